"""Tells what is on one spot: nothing, a chip, something undecided, or something foreign.

A level is in chips: 0 is empty felt, 1.0 the calibrated chip, so the sensing chip's scale does not
matter here. It alone knows when a spot is empty, drifted, disturbed, below empty or in doubt after
liquid; whether an object is a chip follows from `evidence`. Both sides need proof: a chip is taken
for one only on positive evidence, and felt is empty when it rests as felt does, not at one reading.
What has neither is FOREIGN: never a bet, never empty.
"""

from controller.core.arrival import SEEN, UNSEEN
from controller.core.empty_felt import CREEP_MAX, EmptyFelt
from controller.core.evidence import HAND_LEFT_MAX_MS, HAND_MIN, STACK_MS, Evidence
from controller.core.findings import (
    BELOW_EMPTY,
    CHIP,
    CREPT,
    DISTURBED,
    FOREIGN,
    NEAR_LIQUID,
    NOTHING,
    RESTLESS,
    UNDECIDED,
    UNKNOWN,
)
from controller.core.pile import Pile
from hal.aio import ticks_add, ticks_diff

MYPY = False
if MYPY:
    from collections.abc import Callable

HELD_BELOW = 0.15  # How far a chip that is known to lie there may seem to move.
HELD_ABOVE = 0.30
LOOSE_PAD = -0.50

RESTLESS_MS = 1500
EMPTY_MS = 100
DISTURBED_MS = 300
BELOW_MS = 60  # One wrong reading is a glitch; flowing water stays.
BELOW_STILL_MS = 300
REST_MS = 300
WIPED_MS = 10000
DRY_MS = 1000
SUNK_DRY_MS = 4000  # Longer than water flows before it lies still.
EMPTY_LONG_MS = 60000
REVOKE_MS = 5000

# Where the last reading was.
NOWHERE = 0
IN_EMPTY = 1
IN_CREEP = 2
BELOW = 3
ABOVE = 4


class Classifier:
    """One spot. `kind` and `reason` are the present answer; `take` moves them."""

    __slots__ = (
        "_accepted_ms",
        "_base",
        "_chip_level",
        "_dry_ms",
        "_evidence",
        "_felt",
        "_firm_ms",
        "_hand_seen",
        "_is_memory",
        "_last_ms",
        "_moved_ms",
        "_since_ms",
        "_sunk",
        "_told_rise",
        "_trace",
        "_was_felt",
        "_zone",
        "_zone_ms",
        "anchored",
        "began_ms",
        "crept",
        "kind",
        "near_liquid",
        "on_unknown_fall",
        "on_unknown_rise",
        "pile",
        "reason",
        "tainted",
    )

    def __init__(self, noise: float) -> None:
        self.kind = UNDECIDED
        self.reason = ""
        self.tainted = False
        self.near_liquid = False
        self.crept = False
        # False while it is not known that the zero is right: what lay here unseen is no chip yet.
        self.anchored = True
        # When what is found now, a chip or nothing, began to be so; it was certain only later.
        self.began_ms = 0
        # Called with the time when something came that no hand put there, or when a known chip was
        # gone that no hand took.
        self.on_unknown_rise: "Callable[[int], None] | None" = None
        self.on_unknown_fall: "Callable[[int], None] | None" = None
        self.pile = Pile(noise)
        self._felt = EmptyFelt(noise)
        self._evidence = Evidence(noise)
        self._trace = self._evidence.trace
        self._zone = NOWHERE
        self._zone_ms = 0
        self._base = 0.0  # What drifted felt reads under the present object.
        self._chip_level: "float | None" = None
        self._is_memory = False
        self._hand_seen = False
        self._accepted_ms = 0
        self._last_ms = 0
        self._since_ms = 0
        self._moved_ms = 0
        self._firm_ms = 0
        self._told_rise = False
        self._sunk = False
        self._was_felt = False
        self._dry_ms = DRY_MS

    # -- what happens ------------------------------------------------------------------------

    def take(self, level: float, now_ms: int, prompt: bool) -> int:
        """One reading. `prompt`: an interrupt told of it within a few milliseconds."""
        own = level - self._base
        limit = self._felt.leave_limit if self._zone == IN_EMPTY else self._felt.return_limit
        reads_empty = self._reads_empty(level, limit) if self._base else -limit <= level <= limit
        if reads_empty:
            self._see_empty(level, now_ms)
        elif self._may_creep() and self._felt.creeps(level):
            self._see_creep(level, now_ms)
        elif own < 0:
            self._see_below(own, now_ms)
        else:
            self._see_something(own, now_ms, prompt)
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
        self._set(UNDECIDED, "")

    def start_over(self) -> None:
        """The zero was wrong until now: nothing counts but what was remembered."""
        self.lost()
        self.tainted = False
        self.near_liquid = False
        self._was_felt = False

    def revoke(self, now_ms: int) -> None:
        """Liquid was found next to here: a chip that was taken for one just now is in doubt."""
        self.near_liquid = True
        if self.kind == CHIP and ticks_diff(now_ms, self._accepted_ms) < REVOKE_MS:
            self._chip_level = None
            self.tainted = True
            self._set(FOREIGN, NEAR_LIQUID)

    def remember(self, chip_level: float) -> None:
        """Before the first reading: a chip of this level lay here when the power went."""
        self._chip_level = chip_level

    # -- what others may know ----------------------------------------------------------------

    def is_restless(self, now_ms: int) -> bool:
        """True while each further reading may change the answer."""
        if self.kind == UNDECIDED:
            return True
        return self.kind == FOREIGN and ticks_diff(now_ms, self._moved_ms) < HAND_LEFT_MAX_MS

    def is_being_left(self) -> bool:
        """True when it reads as empty felt does, but not yet for long enough."""
        return self.kind == UNDECIDED and self._zone == IN_EMPTY

    def empty_for_ms(self, now_ms: int) -> int:
        return ticks_diff(now_ms, self._since_ms) if self.kind == NOTHING else 0

    def rest_level(self, now_ms: int) -> "float | None":
        """What it reads at rest, whatever that is, or None while it moves."""
        level = self._trace.mean_if_still(REST_MS, now_ms)
        return None if level is None else level + self._base

    def chip_level(self) -> "float | None":
        """The level of the chip that lies here, for one who remembers it.

        While nothing can be read it is the one that was known last: a fault takes no chip away.
        """
        unread = self._zone == NOWHERE and not self.tainted
        return self._chip_level if self.kind == CHIP or unread else None

    def remembered_level(self) -> float:
        """The level of the chip that lay here when it was last known, or 0.0."""
        return self._chip_level or 0.0

    def is_remembered(self) -> bool:
        """True while the chip of which it was told, or that it knew before, lies there."""
        return self.kind == CHIP and self._is_memory

    def loose_for_ms(self, now_ms: int) -> int:
        return ticks_diff(now_ms, self._firm_ms) if self.reason == BELOW_EMPTY else 0

    # -- the felt is empty, or was -----------------------------------------------------------

    def _reads_empty(self, level: float, limit: float) -> bool:
        """What lay on drifted felt is gone: it reads what it did before, or nothing at all."""
        if self._base > 0 and -limit <= level <= limit:
            return True
        return -limit <= level - self._base <= limit and -CREEP_MAX <= level <= CREEP_MAX

    def _see_empty(self, level: float, now_ms: int) -> None:
        if self.kind == NOTHING:
            self._stay_empty(level, now_ms)
            return
        if self._zone != IN_EMPTY:
            self._enter(IN_EMPTY, UNDECIDED, "", now_ms)
        if self._trace.add(level, now_ms):
            mean = self._trace.mean_if_still(EMPTY_MS, now_ms)
            if mean is not None:
                self._become_empty(mean, now_ms)
            elif ticks_diff(now_ms, self._zone_ms) >= DISTURBED_MS:
                self._set(FOREIGN, DISTURBED)
        self._moved_ms = now_ms  # in doubt it is looked at often, for as long as that takes

    def _stay_empty(self, level: float, now_ms: int) -> None:
        if self._felt.flutters(level):
            self._enter(IN_EMPTY, FOREIGN, DISTURBED, now_ms)
            return
        if self._felt.sinks(level):
            self._enter(IN_EMPTY, UNDECIDED, "", now_ms)
            self._sunk = True
            return
        empty_ms = ticks_diff(now_ms, self._since_ms)
        if empty_ms >= EMPTY_LONG_MS:
            # Kept at this distance, because ticks wrap: long empty must not turn short again.
            self._since_ms = ticks_add(now_ms, -EMPTY_LONG_MS)
        elif self.tainted and empty_ms >= self._dry_ms:
            self.tainted = False
        self._felt.follow(level, ticks_diff(now_ms, self._last_ms))

    def _become_empty(self, level: float, now_ms: int) -> None:
        if self._chip_level is not None and not self._hand_seen and self.on_unknown_fall:
            self.on_unknown_fall(now_ms)  # water that runs over a chip hides it
        is_sunk = self._sunk and self._felt.sinks(level)
        self.tainted = self.tainted or is_sunk
        self._dry_ms = SUNK_DRY_MS if is_sunk else DRY_MS
        self._felt.begin(level)
        self.began_ms = self._zone_ms
        self._forget(now_ms)
        self._base = 0.0
        self._chip_level = None
        limit = self._felt.leave_limit
        if -limit <= level <= limit:
            self._zone = IN_EMPTY
            self._set(NOTHING, "")
        else:
            # What lay on drifted felt is gone, and the felt is where it was.
            self._see_creep(level, now_ms)

    def _may_creep(self) -> bool:
        if self._zone == NOWHERE:
            return self._was_felt
        return self._zone == IN_CREEP or self.kind == NOTHING

    def _see_creep(self, level: float, now_ms: int) -> None:
        self._zone = IN_CREEP
        self.crept = True
        self._set(FOREIGN, CREPT)
        self._felt.follow(level, ticks_diff(now_ms, self._last_ms))

    def _see_below(self, level: float, now_ms: int) -> None:
        """Water can lower a reading. The spot is then not empty, and what comes next is no bet."""
        if self._zone != BELOW:
            self._enter(BELOW, UNDECIDED, "", now_ms)
        if self.reason != BELOW_EMPTY and ticks_diff(now_ms, self._zone_ms) >= BELOW_MS:
            self._forget(now_ms)
            self._base = 0.0
            self._chip_level = None
            self.tainted = True
            self._set(FOREIGN, BELOW_EMPTY)
        if level > LOOSE_PAD:
            self._firm_ms = now_ms
        if self._trace.add(level, now_ms) and self._trace.mean_if_still(BELOW_STILL_MS, now_ms):
            self._tell_rise(now_ms)

    # -- something is here -------------------------------------------------------------------

    def _see_something(self, level: float, now_ms: int, prompt: bool) -> None:
        if self._zone == ABOVE:
            self._evidence.see(level, now_ms, prompt)
            self.pile.see(level, now_ms)
        else:
            level = self._begin(level, now_ms, prompt)
        known = self._chip_level
        if known is not None and level > known + HAND_MIN:
            self._hand_seen = True
        if self.kind == CHIP and not self._holds(level):
            self.pile.leave(level, now_ms)
            self._doubt(now_ms)
        elif self.kind == CHIP:
            self.pile.rest(level, ticks_diff(now_ms, self._last_ms))
        is_due = self._trace.add(level, now_ms)
        if self.kind == UNDECIDED and not is_due:
            # A drop may be decided between two blocks: whoever presses START waits for it.
            is_due = self._evidence.is_rested_drop(now_ms)
        if is_due:
            if self.kind != CHIP:
                self._judge(now_ms)
            elif self._trace.is_restless(RESTLESS_MS, now_ms):
                self._doubt(now_ms)

    def _begin(self, level: float, now_ms: int, prompt: bool) -> float:
        """Something is new here; returns its level above the felt it came to."""
        if self._zone == IN_CREEP and level > self._felt.level + self._felt.leave_limit:
            self._base = self._felt.level  # else it is the felt itself that has left its range
            level -= self._base
        arrival = self._evidence.arrival
        if self._zone == NOWHERE:
            arrival.begin(level, UNSEEN)
        elif self._zone == BELOW or self.reason == DISTURBED:
            arrival.begin(level, SEEN)
        else:
            arrival.begin_from_empty(level, ticks_diff(now_ms, self._last_ms), prompt)
        self._forget(now_ms)
        self._enter(ABOVE, UNDECIDED, "", now_ms)
        return level

    def _doubt(self, now_ms: int) -> None:
        """The chip moves: it has to rest anew, and what it did before does not count."""
        if self.near_liquid:
            # Whoever takes the chip leaves wet felt behind, which may weigh as much.
            self._chip_level = None
            self.tainted = True
        self._set(UNDECIDED, "")
        self._moved_ms = now_ms
        self._trace.clear()

    def _holds(self, level: float) -> bool:
        known = self._chip_level
        return known is not None and known - HELD_BELOW <= level <= known + HELD_ABOVE

    def _judge(self, now_ms: int) -> None:
        """After each block: a chip, still undecided, or foreign with the likeliest reason."""
        if self._trace.moved():
            self._moved_ms = now_ms
        level = self._trace.level()
        if self._is_chip(level, now_ms):
            self.began_ms = self._evidence.came_ms(now_ms)
            self.pile.note_left_behind(level, self.began_ms)
            self._hand_seen = False
            accepted_level = self._evidence.accept()
            if not self._is_memory:
                # A known one is measured by what it was: chips neither grow nor shrink, not even
                # little by little.
                self._chip_level = accepted_level
            self._accepted_ms = now_ms
            self._set(CHIP, "")
            return
        if not self.tainted and self._evidence.no_hand_put_it(level, now_ms):
            # Until the spot was empty again it cannot become a bet.
            self.tainted = True
            self._tell_rise(now_ms)
        elif not self.near_liquid and self.pile.fell(level) and self._rests(now_ms):
            self.pile.note_fallen(level)
        reason = self._why_foreign(level, now_ms)
        if reason:
            self._set(FOREIGN, reason)
            if self._is_wiped(level, now_ms):
                self._become_empty(level + self._base, now_ms)

    def _rests(self, now_ms: int) -> bool:
        return not self.tainted and self._trace.mean_if_still(STACK_MS, now_ms) is not None

    def _is_chip(self, level: float, now_ms: int) -> bool:
        if self.tainted or self.near_liquid:
            return False
        known = self._chip_level
        self._is_memory = known is not None and self._evidence.is_known_chip(level, known, now_ms)
        if self._is_memory:
            return True
        if not self.anchored and self._evidence.arrival.origin == UNSEEN:
            return False  # the felt itself may have moved by as much while nobody looked
        return self._evidence.is_new_chip(level, now_ms)

    def _tell_rise(self, now_ms: int) -> None:
        if not self._told_rise and self.on_unknown_rise is not None:
            self._told_rise = True
            self.on_unknown_rise(now_ms)

    def _why_foreign(self, level: float, now_ms: int) -> str:
        if self.near_liquid:
            return NEAR_LIQUID
        if self.tainted:
            return UNKNOWN
        reason = self._evidence.why_no_chip(level, now_ms)
        if reason == RESTLESS and self.kind == FOREIGN:
            return self.reason  # it was named before it moved, and that name tells more
        return reason

    def _is_wiped(self, level: float, now_ms: int) -> bool:
        """A film of water lowered this spot and is gone: nothing lies there for so long."""
        limit = self._felt.return_limit
        rested = self._evidence.age_ms(now_ms) >= WIPED_MS
        return rested and self._base < 0 and -limit <= level + self._base <= limit

    def _set(self, kind: int, reason: str) -> None:
        self.kind = kind
        self.reason = reason

    def _enter(self, zone: int, kind: int, reason: str, now_ms: int) -> None:
        self._zone = zone
        self._zone_ms = self._moved_ms = now_ms
        self.crept = False
        self._sunk = False
        self._trace.clear()
        self._set(kind, reason)

    def _forget(self, now_ms: int) -> None:
        """Whatever was here until now: from this moment on it is something else."""
        self._evidence.begin(now_ms)
        self._since_ms = now_ms
        self._moved_ms = now_ms
        self._firm_ms = now_ms
        self._told_rise = False
        self.crept = False
        self.pile.clear()
