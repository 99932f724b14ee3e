"""The evidence about the object on a spot: does it rest like a chip, and how did it get there?

It alone knows which weight, rest and arrival make a chip, and what only liquid or a foreign thing
does. It remembers one object at a time; what is empty, wet or disturbed the classifier knows.
Levels are in chips above the felt.
"""

from controller.core.arrival import STACK_MAX, STEPPED, UNSEEN, Arrival
from controller.core.findings import RESTLESS, TOO_LARGE, TOO_LITTLE
from controller.core.trace import BLOCK_MS, SPREAD_MARGIN, Trace
from hal.aio import ticks_diff

CHIP_MIN = 0.65
CHIP_MAX = 1.35
DROPPED_MIN = 0.75
DROPPED_MAX = 1.30
USUAL_MAX = 1.25
SAME_CHIP = 0.12
CARD_ON_CHIP = 0.22
HAND_MIN = 0.15  # What leaves with the hand.

DROPPED_MS = 150
DROPPED_MAX_MS = 1000  # What needs longer to come to rest has no weight of its own.
UNSEEN_MS = 300
LEFT_BEHIND_MS = 700
STACK_MS = 1000
LINGERED_MS = 1500
KNOWN_MS = 300
HAND_LEFT_MAX_MS = 1500
DECIDE_MAX_MS = 2500
LARGE_MS = 500
STILL_MS = 300
UNKNOWN_STILL_MS = 1000
# Of a drop that was caught on its way: a splash can come as fast, but grows in this time.
LANDED_MS = 450
# (rest_ms, spread margin) of a drop: the shorter it has rested, the stiller it has to be. Few
# readings tell a chip badly from interference that shifts a spot by as much as a chip would.
DROP_RESTS = ((DROPPED_MS, 1.5), (UNSEEN_MS, 2.5), (LANDED_MS, 3.3), (600, SPREAD_MARGIN))
SLOW_BLOCKS = 18  # 900 ms: longer than a reaching hand can be seen coming.
SLOW_RISE = 0.06


class Evidence:
    """One object at a time, from `begin` to `begin`."""

    __slots__ = ("_hand_min", "_placed", "_since_ms", "arrival", "trace")

    def __init__(self, noise: float) -> None:
        self.arrival = Arrival(noise)
        self.trace = Trace(noise)
        self._hand_min = HAND_MIN + 4 * noise
        self._since_ms = 0
        self._placed = False

    def begin(self, now_ms: int) -> None:
        self._since_ms = now_ms
        self._placed = False
        self.trace.clear()

    def see(self, level: float, now_ms: int, prompt: bool) -> None:
        if self.arrival.see(level, ticks_diff(now_ms, self._since_ms), prompt):
            self.trace.clear()  # it rests from here on at the earliest

    def accept(self) -> float:
        """It is a chip; returns its level."""
        level = self.trace.level()
        self.trace.clear()  # from here on only what moves a chip that rests counts as movement
        self._placed = True
        return level

    def came_ms(self, now_ms: int) -> int:
        """When it first showed, if it fell; else since when what somebody left there has rested."""
        level = self.trace.level()
        if self.arrival.is_drop(level):
            return self._since_ms
        return self.trace.rests_since_ms(level, now_ms)

    def age_ms(self, now_ms: int) -> int:
        return ticks_diff(now_ms, self._since_ms)

    def is_rested_drop(self, now_ms: int) -> bool:
        """True when it came in one step and has lain there for just long enough to be judged."""
        age_ms = ticks_diff(now_ms, self._since_ms)
        return DROPPED_MS <= age_ms < DROPPED_MS + BLOCK_MS and self.arrival.origin == STEPPED

    def is_known_chip(self, level: float, known: float, now_ms: int) -> bool:
        """The chip that was accepted before lies there still, or again."""
        if not known - SAME_CHIP <= level <= known + CARD_ON_CHIP:
            return False
        # A hand may have taken the chip and left wet felt, which goes on rising.
        was_touched = self._hand_left(level, LEFT_BEHIND_MS, now_ms)
        rest_ms = LEFT_BEHIND_MS if was_touched else KNOWN_MS
        return self.trace.mean_if_still(rest_ms, now_ms) is not None

    def is_new_chip(self, level: float, now_ms: int) -> bool:
        if not CHIP_MIN <= level <= STACK_MAX:
            return False
        origin = self.arrival.origin
        if level > CHIP_MAX:
            came = origin == UNSEEN or self._hand_left(level, STACK_MS, now_ms)
            return came and self._rests_in(CHIP_MIN, STACK_MAX, STACK_MS, now_ms)
        if origin == UNSEEN:
            return self._rests_in(CHIP_MIN, CHIP_MAX, UNSEEN_MS, now_ms)
        age_ms = self.age_ms(now_ms)
        if age_ms <= DROPPED_MAX_MS and self.arrival.is_drop(level):
            return self._drop_rests(level, now_ms)
        # Nobody needs long to put a chip down, and most weigh what they should; a finger that lies
        # still for a while does not. What is unusual has to prove more.
        if age_ms >= DECIDE_MAX_MS:
            rest_ms = LINGERED_MS
        else:
            is_usual = DROPPED_MIN <= level <= USUAL_MAX
            rest_ms = LEFT_BEHIND_MS if is_usual else STACK_MS
        came = self._hand_left(level, rest_ms, now_ms)
        return came and self._rests_in(CHIP_MIN, CHIP_MAX, rest_ms, now_ms)

    def no_hand_put_it(self, level: float, now_ms: int) -> bool:
        """True when it came as liquid does: it rose slowly, or rests though nothing brought it."""
        if self.arrival.origin == UNSEEN:
            return False
        if not self._placed and self.trace.mean_if_still(STILL_MS, now_ms) is not None:
            dropped = self.arrival.is_drop(level)
            self._placed = dropped or self._hand_left(level, STILL_MS, now_ms)
        # Also where a hand has been: felt that soaks under a hand goes on rising without it.
        if self.trace.rose_slowly(SLOW_BLOCKS, SLOW_RISE):
            return True
        if self._placed:
            return False
        return self.trace.mean_if_still(UNKNOWN_STILL_MS, now_ms) is not None

    def why_no_chip(self, level: float, now_ms: int) -> str:
        """The likeliest reason, or "" while it may still turn out to be one."""
        age_ms = self.age_ms(now_ms)
        if level > STACK_MAX and age_ms >= LARGE_MS:
            return TOO_LARGE
        if level < CHIP_MIN and self.trace.mean_if_still(STILL_MS, now_ms) is not None:
            return TOO_LITTLE
        return "" if age_ms < DECIDE_MAX_MS else RESTLESS

    def _drop_rests(self, level: float, now_ms: int) -> bool:
        is_clean = self.arrival.is_clean_drop(level)
        for rest_ms, margin in DROP_RESTS:
            if is_clean or rest_ms >= LANDED_MS:
                mean = self.trace.mean_if_still(rest_ms, now_ms, margin)
                if mean is not None and DROPPED_MIN <= mean <= DROPPED_MAX:
                    return True
        return False

    def _rests_in(self, low: float, high: float, rest_ms: int, now_ms: int) -> bool:
        mean = self.trace.mean_if_still(rest_ms, now_ms)
        return mean is not None and low <= mean <= high

    def _hand_left(self, level: float, rest_ms: int, now_ms: int) -> bool:
        return self.trace.fell_to(level, self._hand_min, rest_ms, HAND_LEFT_MAX_MS, now_ms)
