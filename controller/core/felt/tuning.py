"""Every figure that tunes sensing: its unit is the end of its name, its origin stands beside it.

Units: `_CHIPS` is a level (0 is empty felt, 1.0 the calibrated chip), `_NOISES` counts a spot's own
calibrated noise, `_SIGMAS` the standard deviations of a statistic, `_PART` is a part of something,
`_MS` milliseconds, `_COUNTS` a sensing IC's own steps.

Origins: *datasheet*: an IC's own figure. *matrix*: trials of `sim sense` failed with another value,
or a mutation test does; the model's ranges are assumptions, so it is a figure of that model.
*rule*: asked for by the house. *chosen*: reasoned only, and no trial spoke against it.

Modules read `tuning.NAME` when they need it, so that a test can change one figure everywhere.
"""

# -- one spot's scale ----------------------------------------------------------------------------

# For a spot whose chip a tech never measured, as on an MPR121. datasheet: its data have 10 bits.
# chosen, from the model: a clay chip is some 300 fF on the pad, and a count about 5 fF.
CHIP_DELTA_DEFAULT_COUNTS = 60
NOISE_DEFAULT_COUNTS = 1.0
RAW_MAX_DEFAULT_COUNTS = 1023
# Counting in whole steps is noise of its own: a step's deviation is 1/sqrt(12), 0.29. chosen above.
NOISE_MIN_COUNTS = 0.4

# -- the pace of readings ------------------------------------------------------------------------

# Ten readings, the fewest that prove rest, have to fit into the 150 ms of a drop. chosen.
DECIDING_EVERY_MS = 10
SETTLING_EVERY_MS = 25  # chosen
WATCHING_EVERY_MS = 100  # a chip lies there. chosen: a lift is seen at once by its interrupt
CALM_EVERY_MS = 200  # something foreign lies there. chosen
QUIET_EVERY_MS = 500  # empty table. chosen: how late a lost interrupt may be found out
# Without an interrupt line the touch bits are looked at so often. chosen: a light follows in time.
WITHOUT_INTERRUPT_MS = 25
# Three of the slowest readings missed are no reading at all. chosen.
READING_AGE_MAX_MS = 1500
# A reading this soon after the touch bit rose shows the arrival itself. matrix: an FDC1004's first
# reading comes 9 to 14 ms after its bit; at 12 it was luck whether its drops counted as clean.
PROMPT_MS = 16

# -- one spot ------------------------------------------------------------------------------------

SETTLE_MS = 150  # rule: a bet has rested for 150 ms
# A pad this far below empty felt for this long is a fault, not water. chosen: water lowers less.
LOOSE_PAD_CHIPS = -0.50
LOOSE_PAD_MS = 2000

# -- empty felt ----------------------------------------------------------------------------------

# How far empty felt may read from zero: so much, or so many noises, and never more than the last.
EMPTY_MAX_CHIPS = 0.12  # chosen: above what ageing and warmth do between two learnings
EMPTY_NOISES = 6  # chosen: noise alone must not leave it
EMPTY_LIMIT_MAX_CHIPS = 0.25  # chosen: well below the lightest chip even on a noisy pad
# Leaving and returning lie apart by more than noise spans, or a small thing would come and go.
LEAVE_NOISES = 3  # chosen
EMPTY_AGAIN_PART = 0.75  # of the limit. chosen
# Empty is only what rests like felt. matrix: chips under interference read empty for a moment.
EMPTY_REST_MS = 100
EMPTY_DISTURBED_MS = 300  # what reads empty and does not rest in this time is disturbed. chosen
EMPTY_LONG_MS = 60000  # beyond this nobody asks how long. chosen, far below where ticks wrap

# Noise that empty felt does not make: over so many readings, this many times the spot's own.
FLUTTER_READINGS = 8  # chosen
FLUTTER_NOISES = 3  # chosen: interference that may hide a chip is noisier than that
# One jump counts as at most so many squares of the noise: alone it must not pass the limit of 9.
FLUTTER_JUMP_NOISE_SQUARES = 60  # chosen: 60 / 2 / 8 is below 9

# A sudden fall inside the empty range: water that flows lowers a reading before it rises. matrix:
# trial 159592219178645 took what rose after such a fall for a chip.
SINK_MIN_CHIPS = 0.05
SINK_NOISES = 5

# Felt that drifts out of the empty range in a long round: so far, and no faster than this step
# from where it was followed to with this time constant. chosen.
CREEP_MAX_CHIPS = 0.35
CREEP_STEP_CHIPS = 0.06
CREEP_MS = 3000

# -- below empty felt, wet, dry ------------------------------------------------------------------

BELOW_MS = 60  # chosen: one wrong reading is a glitch; water that flows stays
BELOW_STILL_MS = 300  # chosen
SPOT_DRY_MS = 1000  # empty for so long ends a spot's taint. chosen
SUNK_DRY_MS = 4000  # after a sudden fall. matrix: longer than water flows before it lies still
WIPED_MS = 10000  # felt back at zero after a film of water left. chosen: longer than any wipe
# What was accepted so lately is taken back when liquid shows beside it. chosen: as long as a spill.
REVOKE_MS = 5000

# -- what weighs like a chip ---------------------------------------------------------------------

WEIGHT_MIN_CHIPS = 0.65  # matrix: cards stay below; most chips that lie half off do too
WEIGHT_MAX_CHIPS = 1.35  # chosen: above this it is a stack, or a hand
STACK_MAX_CHIPS = 2.60  # chosen: what five chips weigh in the model
# A drop may weigh so much; a chip that a hand laid down usually does. matrix: what is lighter or
# heavier has to prove more, because the edge of a finger often is.
DROP_MIN_CHIPS = 0.75
DROP_MAX_CHIPS = 1.30
USUAL_MIN_CHIPS = 0.75
USUAL_MAX_CHIPS = 1.25
# The chip that was accepted here may read so much less, or more with a card on it, and is the same.
KNOWN_BELOW_CHIPS = 0.12  # chosen
KNOWN_ABOVE_CHIPS = 0.22  # chosen
# How far an accepted chip may seem to move before it has to rest anew. matrix: without them a chip
# at the edge of its range flickers.
HELD_BELOW_CHIPS = 0.15
HELD_ABOVE_CHIPS = 0.30

# -- how it came ---------------------------------------------------------------------------------

GAP_MAX_MS = 30  # felt that was seen empty so lately: what came, came in one step. chosen
TOUCH_LAG_MS = 20  # chosen: an MPR121's touch bit needs several of its samples, 4 ms each
LANDING_MS = 18  # chosen: a second reading may still find it landing, a third may not
JUMPED_MIN_CHIPS = 0.50  # found by a poll, not by an interrupt. chosen: most of a chip at once
# A drop is there at once and neither grows nor shrinks after that.
STEP_FIRST_PART = 0.45  # of its level in the first reading. chosen
STEP_MARGIN_PART = 0.08  # of its level, up and down, ever since. chosen
STEP_NOISES = 3  # chosen, on top of both
# From one reading to the next, while it lands. matrix: with 2.5 some of 10,000 drops were missed.
STEP_JUMP_TIMES = 1.5
# All of it in the very first reading: chips land in a few milliseconds, the front of a splash takes
# some tens. matrix: a splash had landed by 92 to 96 % in an FDC1004's first reading.
CLEAN_PART = 0.97
CLEAN_NOISES = 1

# -- how long it rests before it is a chip -------------------------------------------------------

DROP_REST_MS = 150  # rule; matrix: safe only for a clean and quiet drop
# Caught on its way as a splash would be. matrix: the slowest splash grows by a fifth of a chip in a
# second; after 300 ms 3 in 1,000 of the lightest were accepted, after 350 none of 16,000.
LANDED_REST_MS = 450
# (rest in ms, spread margin in sigmas): the shorter a drop has rested, the stiller it has to be.
# matrix: fourteen readings tell a chip badly from interference that shifts a spot as far.
DROP_RESTS_MS_SIGMAS = ((DROP_REST_MS, 1.5), (300, 2.5), (LANDED_REST_MS, 3.3), (600, 4.2))
DROP_AGE_MAX_MS = 1000  # chosen: what needs longer to come to rest has no weight of its own
UNSEEN_REST_MS = 300  # it lay there before anybody looked. chosen
LEFT_BEHIND_REST_MS = 700  # matrix: a finger can lie stiller than its own noise for 600 ms
STACK_REST_MS = 1000  # matrix: also for an unusual weight; 600 accepted a finger
LINGERED_REST_MS = 1500  # matrix: trial 262125060352603, a hand that half left kept still for 1 s
KNOWN_REST_MS = 300  # chosen: a chip whose level is known needs less
ANY_REST_MS = 300  # what a spot reads at rest, whatever it is. chosen

# -- a hand --------------------------------------------------------------------------------------

# What leaves with the hand weighs at least so much and so many noises more. chosen.
HAND_MIN_CHIPS = 0.15
HAND_NOISES = 4
HAND_LEFT_MAX_MS = 1500  # so long before the rest it may have left. chosen
# Blocks at the later level before the hand came: more of them, and the thing only sways. chosen.
CROSSINGS_MAX = 2
SAME_LEVEL_CHIPS = 0.12  # chosen

# -- what is no chip -----------------------------------------------------------------------------

DECIDE_MAX_MS = 2500  # chosen: nobody needs longer to put a chip down
TOO_LARGE_MS = 500  # chosen
STILL_MS = 300  # chosen
# What rests so long and neither fell nor was left by a hand came as liquid does. chosen.
UNKNOWN_STILL_MS = 1000
# A climb over so many blocks by so much. matrix: 900 ms is longer than a reaching hand is seen
# coming; without it trial 128374637425993 of soaking felt was accepted.
SLOW_BLOCKS = 18
SLOW_RISE_CHIPS = 0.06
SLOW_SLACK_NOISES = 2  # chosen: a block's mean may fall back by so much and still climb
# An accepted chip that certainly moves in this time is doubted. chosen.
CHIP_RESTLESS_MS = 1500

# -- the statistics of rest ----------------------------------------------------------------------

BLOCK_MS = 50  # chosen: five readings at the fastest pace
BLOCKS_MAX = 60  # chosen: three seconds, longer than anything is asked for
# A stretch needs so many readings, and one for so many milliseconds of it. chosen: a still picture
# of two moments proves nothing.
READINGS_MIN = 10
READING_EVERY_MAX_MS = 30
# How far above its noise a stretch may look before it counts as moving. chosen: about 1 stretch
# in 1000 of mere noise is called moving.
SPREAD_MARGIN_SIGMAS = 4.2
WANDER_MARGIN_SIGMAS = 4.5
TREND_MARGIN_SIGMAS = 3.5
CERTAIN_MARGIN_SIGMAS = 8  # to say that it certainly moves. chosen
# How far a block's mean may lie from where a thing has come to rest. chosen.
RESTING_NOISES = 2
RESTING_CHIPS = 0.03
# How far apart two blocks' means are when it moved between them. chosen.
MOVED_NOISES = 4
MOVED_CHIPS = 0.03

# -- a second chip on a known one ----------------------------------------------------------------

# It is further from the pad and adds about a third to a half of a chip; several cards add up to
# 0.35, and a chip that is pushed to the middle of its spot does not weigh more than one. matrix:
# no event in 732 trials of anything else on an accepted chip.
ADDED_MIN_CHIPS = 0.40
ADDED_MAX_CHIPS = 1.0
PILE_MIN_CHIPS = 1.25
PILE_FOLLOW_MS = 3000  # chosen: as drift is followed

# -- the felt of the whole table -----------------------------------------------------------------

# How fast the zero follows. chosen: felt in a heated room drifts at a third of this in the model.
LEARN_CHIPS_PER_S = 0.001
LEARN_EVERY_MS = 400  # chosen
LEARN_STEP_MAX_MS = 2000  # chosen: a gap in the readings is not made up for
EMPTY_BEFORE_LEARNING_MS = 2000  # chosen
SHARED_COUNT_MIN = 3  # fewer empty spots share nothing. chosen
# One spot alone is followed more slowly, and so far. matrix: a chip must not vanish in it.
LOCAL_PART = 0.25
LOCAL_MAX_CHIPS = 0.30
# Water on most spots lowers them all as a cold room does: when it is wiped away the felt must weigh
# less than any chip above the zero that followed it. matrix: with -1.5 five empty spots were bets.
SHARED_MIN_CHIPS = -0.50
SHARED_MAX_CHIPS = 1.50  # chosen: a warm evening moved the felt of the model by 0.8
# Beyond this the touch bit would speak too early or too late: the IC is started anew. chosen.
REBASE_BEYOND_CHIPS = 0.06

# So many spots that rose without a hand, within this time, are a spill wherever they are. chosen.
SPILL_COUNT_MIN = 3
SPILL_MS = 5000
SPILL_SEATS = 1  # doubt spreads to the next seat. chosen
SPILL_NEAR_SEATS = 2  # two wet spots so near are a spill: a hand may hide the one between. chosen
SPILL_DRY_MS = 10000  # chosen

# -- the zero after a start ----------------------------------------------------------------------

PROOF_WAIT_MAX_MS = 1500  # what lay there may take so long to come to rest. chosen
ALIKE_CHIPS = 0.12  # chosen: as far as empty felt may read from zero
# So many spots that moved alike speak against the zero. matrix: with no proof asked, seed 80.
ALIKE_COUNT_MIN = 3
# A bet weighs at least 0.65: what most spots share below this is felt. decision 13.
FELT_MOVED_MAX_CHIPS = 0.50

# -- a tech's calibration ------------------------------------------------------------------------

SAMPLE_COUNT = 8  # of a reference alone. chosen
SAMPLE_EVERY_MS = 20
# A spot's noise is what single readings show in play, found to one part in twenty: the deviation of
# n readings is known to 1/sqrt(2n). chosen.
NOISE_READING_COUNT = 240
NOISE_READING_EVERY_MS = 10
# How far a few readings of a pad at rest may spread, in the noise of a quiet one. chosen.
SPREAD_MAX_NOISES = 10
# Of many readings, the means of short blocks: noise of any strength moves them by twice itself at
# most, while hands, chips and water take them along. chosen.
NOISE_BLOCK_READINGS = 12
BLOCK_MOVED_NOISES = 4
# How far a chip must move a reading. matrix: from the first on the rates of docs/sensing.md hold,
# below the second even a good chip may be refused. Below the third there was no chip. chosen.
GOOD_MARGIN_NOISES = 60
USABLE_MARGIN_NOISES = 30
SEEN_MARGIN_NOISES = 8
