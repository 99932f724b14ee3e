"""Tells what is on one spot: nothing, a chip, something undecided, or something foreign.

A level is in chips: 0 is empty felt, 1.0 the calibrated chip, so the sensing IC's scale does not
matter here. It alone knows when a spot is empty, drifted, disturbed or below empty, and when
something came to it; what that is follows from `thing`. Both sides need proof: a chip is taken for
one only on positive evidence, and felt is empty when it rests as felt does, not at one reading.
What has neither is FOREIGN: never a bet, never empty.
"""

from controller.core.felt import tuning
from controller.core.felt.arrival import SEEN, UNSEEN
from controller.core.felt.doubt import Doubt
from controller.core.felt.empty_felt import EmptyFelt
from controller.core.felt.evidence import Evidence
from controller.core.felt.reasons import (
    BELOW_EMPTY,
    CHIP,
    CREPT,
    DISTURBED,
    FOREIGN,
    NOTHING,
    UNDECIDED,
)
from controller.core.felt.thing import Thing
from hal.aio import ticks_add, ticks_diff

# Where the last reading was.
NOWHERE = 0
IN_EMPTY = 1
IN_CREEP = 2
BELOW = 3
ABOVE = 4


class Classifier:
    """One spot. `kind` and `reason` are the present answer; `take` moves them."""

    __slots__ = (
        "_base",
        "_evidence",
        "_felt",
        "_firm_ms",
        "_last_ms",
        "_since_ms",
        "_sunk",
        "_trace",
        "_was_felt",
        "_zone",
        "_zone_ms",
        "began_ms",
        "crept",
        "doubt",
        "kind",
        "pile",
        "reason",
        "thing",
    )

    def __init__(self, noise: float) -> None:
        self.kind = UNDECIDED
        self.reason = ""
        # When what is found now, a chip or nothing, began to be so; it was certain only later.
        self.began_ms = 0
        self.crept = False
        self.doubt = Doubt()
        self._felt = EmptyFelt(noise)
        self._evidence = Evidence(noise)
        self._trace = self._evidence.trace
        self.thing = Thing(noise, self._evidence, self.doubt)
        self.pile = self.thing.pile
        self._zone = NOWHERE
        self._zone_ms = 0
        self._base = 0.0  # What drifted felt reads under the present thing.
        self._last_ms = 0
        self._since_ms = 0
        self._firm_ms = 0  # When the pad last read no further below empty than water takes it.
        self._sunk = False
        self._was_felt = False

    # -- what happens ------------------------------------------------------------------------

    def take(self, level: float, now_ms: int, prompt: bool) -> int:
        """One reading. `prompt`: an interrupt told of it within a few milliseconds."""
        above_felt = level - self._base
        # Felt creeps only from where it was seen as felt: a thing that lies there does not turn
        # into felt by weighing little. After a silence it is felt where it was felt before.
        if self._zone == NOWHERE:
            may_creep = self._was_felt
        else:
            may_creep = self._zone == IN_CREEP or self.kind == NOTHING
        if self._felt.reads_empty(level, self._base, self._zone == IN_EMPTY):
            self._see_empty(level, now_ms)
        elif may_creep and self._felt.creeps(level):
            self._see_creep(level, now_ms)
        elif above_felt < 0:
            self._see_below(above_felt, now_ms)
        else:
            self._see_thing(above_felt, now_ms, prompt)
        self._last_ms = now_ms
        return self.kind

    def lost(self) -> None:
        """The readings stopped: what is found next came unseen.

        A known chip is remembered, and so is felt: what reads as it did is the same felt still.
        """
        if self._zone != NOWHERE:
            self._was_felt = self.kind == NOTHING or self._zone == IN_CREEP
        self._zone = NOWHERE
        self._trace.clear()
        # UNDECIDED and not NOTHING: a spot that nobody could read is never "no bet".
        self.thing.end()
        self._set(UNDECIDED, "")

    def start_over(self) -> None:
        """The zero was wrong until now: nothing counts but what was remembered."""
        self.lost()
        self.doubt.start_over()
        self._was_felt = False

    def liquid_is_near(self, now_ms: int) -> None:
        """Liquid was found next to here: a chip that was taken for one just now is in doubt."""
        self.doubt.liquid_is_near()
        if self.thing.revoke(now_ms):
            self._set(self.thing.kind, self.thing.reason)

    # -- what others may know ----------------------------------------------------------------

    def is_restless(self, now_ms: int) -> bool:
        """True while each further reading may change the answer."""
        if self.kind == UNDECIDED:
            return True
        return self.kind == FOREIGN and self._evidence.moved_lately(now_ms)

    def is_being_left(self) -> bool:
        """True when it reads as empty felt does, but not yet for long enough."""
        return self.kind == UNDECIDED and self._zone == IN_EMPTY

    def empty_for_ms(self, now_ms: int) -> int:
        return ticks_diff(now_ms, self._since_ms) if self.kind == NOTHING else 0

    def empty_limit(self) -> float:
        """How far from zero this spot's felt may read and still be empty."""
        return self._felt.leave_limit

    def rest_level(self, now_ms: int) -> "float | None":
        """What it reads at rest, whatever that is, or None while it moves."""
        level = self._trace.mean_if_still(tuning.ANY_REST_MS, now_ms)
        return None if level is None else level + self._base

    def chip_level(self) -> "float | None":
        """The level of the chip that lies here, for one who remembers it.

        While nothing can be read it is the one that was known last: a fault takes no chip away.
        """
        # On tainted felt it is not: what lies there may be water that weighs as the chip did.
        unread = self._zone == NOWHERE and not self.doubt.tainted
        return self.thing.known_level() if self.kind == CHIP or unread else None

    def loose_for_ms(self, now_ms: int) -> int:
        return ticks_diff(now_ms, self._firm_ms) if self.reason == BELOW_EMPTY else 0

    # -- the felt is empty, or was -----------------------------------------------------------

    def _see_empty(self, level: float, now_ms: int) -> None:
        if self.kind == NOTHING:
            self._stay_empty(level, now_ms)
            return
        if self._zone != IN_EMPTY:
            self._enter(IN_EMPTY, UNDECIDED, "", now_ms)
        # Judged only when a block is complete: between two blocks nothing new can be said of rest.
        if self._trace.add(level, now_ms):
            mean = self._trace.mean_if_still(tuning.EMPTY_REST_MS, now_ms)
            if mean is not None:
                self._become_empty(mean, now_ms)
            elif ticks_diff(now_ms, self._zone_ms) >= tuning.EMPTY_DISTURBED_MS:
                self._set(FOREIGN, DISTURBED)
        self._evidence.note_move(now_ms)  # in doubt it is looked at often, while that lasts

    def _stay_empty(self, level: float, now_ms: int) -> None:
        if self._felt.flutters(level):
            self._enter(IN_EMPTY, FOREIGN, DISTURBED, now_ms)
            return
        if self._felt.sinks(level):
            # One reading may be a glitch: it has to rest again, and only then counts as sunk.
            self._enter(IN_EMPTY, UNDECIDED, "", now_ms)
            self._sunk = True
            return
        empty_ms = ticks_diff(now_ms, self._since_ms)
        if empty_ms >= tuning.EMPTY_LONG_MS:
            # Kept at this distance, because ticks wrap: long empty must not turn short again.
            self._since_ms = ticks_add(now_ms, -tuning.EMPTY_LONG_MS)
        else:
            self.doubt.stay_empty(empty_ms)
        self._felt.follow(level, ticks_diff(now_ms, self._last_ms))

    def _become_empty(self, level: float, now_ms: int) -> None:
        # Whoever takes a chip is seen as something larger above it. A chip that went without that
        # may be under water, and the neighbours have to know.
        if self.thing.went_without_hand():
            self.doubt.tell_fall(now_ms)
        # Against the level before the fall, so before the felt begins anew at this one.
        self.doubt.become_empty(self._sunk and self._felt.sinks(level))
        self._felt.begin(level)
        # A chip was gone when felt first showed, not when its rest was proven 100 ms later: the
        # offset of a late change is taken from here.
        self.began_ms = self._zone_ms
        self._forget(now_ms)
        self._base = 0.0
        self.thing.forget_chip()
        limit = self._felt.leave_limit
        if -limit <= level <= limit:
            self._zone = IN_EMPTY
            self._set(NOTHING, "")
        else:
            # What lay on drifted felt is gone, and the felt is where it was.
            self._see_creep(level, now_ms)

    def _see_creep(self, level: float, now_ms: int) -> None:
        self._zone = IN_CREEP
        self.crept = True
        self._set(FOREIGN, CREPT)
        self._felt.follow(level, ticks_diff(now_ms, self._last_ms))

    def _see_below(self, level: float, now_ms: int) -> None:
        """Water can lower a reading. The spot is then not empty, and what comes next is no bet."""
        if self._zone != BELOW:
            self._enter(BELOW, UNDECIDED, "", now_ms)
        # Not at the first reading: one wrong reading must not make a spot forget its chip.
        if self.reason != BELOW_EMPTY and ticks_diff(now_ms, self._zone_ms) >= tuning.BELOW_MS:
            self._forget(now_ms)
            self._base = 0.0
            self.thing.forget_chip()
            self.doubt.taint()
            self._set(FOREIGN, BELOW_EMPTY)
        if level > tuning.LOOSE_PAD_CHIPS:
            self._firm_ms = now_ms
        # Water that lies still below empty is told of as water that rose is: both are a spill.
        is_due = self._trace.add(level, now_ms)
        if is_due and self._trace.mean_if_still(tuning.BELOW_STILL_MS, now_ms):
            self.doubt.tell_rise(now_ms)

    # -- something is here -------------------------------------------------------------------

    def _see_thing(self, level: float, now_ms: int, prompt: bool) -> None:
        if self._zone == ABOVE:
            self._evidence.see(level, now_ms, prompt)
            self.pile.see(level, now_ms)
        else:
            level = self._begin(level, now_ms, prompt)
        is_foreign = self.thing.see(level, now_ms, ticks_diff(now_ms, self._last_ms))
        self._set(self.thing.kind, self.thing.reason)
        if self.kind == CHIP:
            self.began_ms = self.thing.began_ms
        elif is_foreign and self._base < 0:
            # A film of water had lowered this spot and is gone: against the sunk felt bare felt
            # seems to be a thing, but nothing lies where zero is read for so long.
            read = self._trace.level() + self._base
            if self._evidence.age_ms(now_ms) >= tuning.WIPED_MS and self._felt.is_back(read):
                self._become_empty(read, now_ms)

    def _begin(self, level: float, now_ms: int, prompt: bool) -> float:
        """Something is new here; returns its level above the felt it came to."""
        if self._zone == IN_CREEP and level > self._felt.level + self._felt.leave_limit:
            self._base = self._felt.level  # else it is the felt itself that has left its range
            level -= self._base
        arrival = self._evidence.arrival
        if self._zone == NOWHERE:
            arrival.begin(level, UNSEEN)
        elif self._zone == BELOW or self.reason == DISTURBED:
            # Not from felt that was known to be empty: how far it came in one step is not known.
            arrival.begin(level, SEEN)
        else:
            arrival.begin_from_empty(level, ticks_diff(now_ms, self._last_ms), prompt)
        self._forget(now_ms)
        self._enter(ABOVE, UNDECIDED, "", now_ms)
        return level

    # -- inside ------------------------------------------------------------------------------

    def _set(self, kind: int, reason: str) -> None:
        self.kind = kind
        self.reason = reason

    def _enter(self, zone: int, kind: int, reason: str, now_ms: int) -> None:
        self._zone = zone
        self._zone_ms = now_ms
        self._evidence.note_move(now_ms)
        self.crept = False
        self._sunk = False
        self._trace.clear()
        self.thing.end()
        self._set(kind, reason)

    def _forget(self, now_ms: int) -> None:
        """Whatever was here until now: from this moment on it is something else."""
        self._evidence.begin(now_ms)
        self._since_ms = now_ms
        self._firm_ms = now_ms
        self.doubt.begin()
        self.thing.end()
        self.pile.clear()
