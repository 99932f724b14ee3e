"""Tells what lies on one spot from how its level came and how still it rests.

A level is in chips: 0 is empty felt, 1.0 the calibrated chip, so the sensing chip's scale does not
matter here. A chip is taken for one only on positive evidence: it dropped into place in one step,
or something larger (the hand that put it there) left it behind, and since then it rests as dead
things do. What came slowly, moves, or came unseen in between is FOREIGN: never a bet, never empty.
"""

from controller.core.trace import Trace
from hal.aio import ticks_add, ticks_diff

MYPY = False
if MYPY:
    from collections.abc import Callable

NOTHING = 0
CHIP = 1
UNDECIDED = 2
FOREIGN = 3

# Used where a tech stored only what the empty felt reads: an MPR121's counts for a usual clay chip.
CHIP_DELTA_DEFAULT = 60
NOISE_DEFAULT = 1.0
NOISE_MIN = 0.4  # Counting in whole steps is noise of its own.
RAW_MAX_DEFAULT = 1023

EMPTY_MAX = 0.12
EMPTY_NOISES = 6
EMPTY_LIMIT_MAX = 0.25
LEAVE_NOISES = 3
EMPTY_AGAIN = 0.75  # Of the limit: what left the empty range must come back well inside it.
CHIP_MIN = 0.65
CHIP_MAX = 1.35
STACK_MAX = 2.60
HELD_BELOW = 0.15  # How far a chip that is known to lie there may seem to move.
HELD_ABOVE = 0.30
SAME_CHIP = 0.12
CARD_ON_CHIP = 0.22
# Parts of the level: a drop is there at once and neither grows nor shrinks after that.
STEP_FIRST = 0.70
DROPPED_MIN = 0.75
DROPPED_MAX = 1.30
STEP_MARGIN = 0.08
JUMP = 2.5
HAND_MIN = 0.15  # What leaves with the hand.
LOOSE_PAD = -0.50

DROPPED_MS = 300
DROPPED_MAX_MS = 700  # What needs longer to come to rest has no weight of its own.
LEFT_BEHIND_MS = 600
STACK_MS = 1000
KNOWN_MS = 300
RESTLESS_MS = 1500
HAND_LEFT_MAX_MS = 1500
DECIDE_MAX_MS = 2500
LARGE_MS = 500
UNKNOWN_STILL_MS = 1000
SLOW_BLOCKS = 18  # 900 ms: longer than a reaching hand can be seen coming.
SLOW_RISE = 0.06
DRY_MS = 1000
EMPTY_LONG_MS = 60000
LOOSE_MS = 2000
GAP_MAX_MS = 30
TOUCH_LAG_MS = 20
LANDING_MS = 14
UNSEEN_MIN = 0.50
REVOKE_MS = 5000
FLUTTER_READINGS = 8
FLUTTER_NOISES = 3
FLUTTER_JUMP = 60
CREEP_MAX = 0.35
CREEP_STEP = 0.06
CREEP_MS = 3000

# How an object came.
STEPPED = 1
SEEN = 2
UNSEEN = 3

TOO_LARGE = "a hand or something large is here"
TOO_LITTLE = "too little for a chip: partly on the spot, on edge, or a card"
RESTLESS = "something moves here"
UNKNOWN = "came slowly or unlike a chip: wet felt or a foreign object"
NEAR_LIQUID = "the felt is wet around here"
BELOW_EMPTY = "reads below empty felt: wet, or a loose pad"
DISTURBED = "something disturbs this spot"
CREPT = "the empty felt has drifted"


class Calibration:
    """What was measured for one spot, in the sensing chip's own units."""

    __slots__ = ("chip_delta", "noise", "raw_max")

    def __init__(
        self,
        chip_delta: float = CHIP_DELTA_DEFAULT,
        noise: float = NOISE_DEFAULT,
        raw_max: int = RAW_MAX_DEFAULT,
    ) -> None:
        if chip_delta <= 0 or noise < 0 or raw_max <= 0:
            raise ValueError("A calibration needs a chip that moves the reading and a real scale.")
        self.chip_delta = chip_delta
        self.noise = max(noise, NOISE_MIN)
        self.raw_max = raw_max

    def noise_level(self) -> float:
        return self.noise / self.chip_delta


class Classifier:
    """One spot. `kind` and `reason` are the present answer; `take` moves them."""

    __slots__ = (
        "_accepted_ms",
        "_chip_level",
        "_firm_ms",
        "_first",
        "_flutter",
        "_high",
        "_last_level",
        "_last_ms",
        "_leave_limit",
        "_low",
        "_moved_ms",
        "_noise",
        "_origin",
        "_placed",
        "_read_once",
        "_return_limit",
        "_since_ms",
        "_slow_level",
        "_told_rise",
        "_trace",
        "crept",
        "kind",
        "near_liquid",
        "on_unknown_rise",
        "reason",
        "tainted",
    )

    def __init__(self, calibration: "Calibration | None" = None) -> None:
        calibration = calibration or Calibration()
        self.kind = NOTHING
        self.reason = ""
        self.tainted = False
        self.near_liquid = False
        self.crept = False
        # Called with the time when something came that no hand put there.
        self.on_unknown_rise: "Callable[[int], None] | None" = None
        self._noise = calibration.noise_level()
        limit = min(EMPTY_LIMIT_MAX, max(EMPTY_MAX, EMPTY_NOISES * self._noise))
        # Apart by more than noise spans, or a small thing at the edge would come and go.
        self._leave_limit = limit + LEAVE_NOISES * self._noise
        self._return_limit = limit * EMPTY_AGAIN
        self._trace = Trace(self._noise)
        self._read_once = False
        self._slow_level = 0.0
        self._last_level = 0.0
        self._flutter = 0.0
        self._chip_level: "float | None" = None
        self._accepted_ms = 0
        self._last_ms = 0
        self._since_ms = 0
        self._moved_ms = 0
        self._origin = UNSEEN
        self._placed = False
        self._told_rise = False
        self._firm_ms = 0
        self._first = 0.0
        self._high = 0.0
        self._low = 0.0

    # -- what happens ------------------------------------------------------------------------

    def take(self, level: float, now_ms: int, prompt: bool) -> int:
        """One reading. `prompt`: an interrupt told of it within a few milliseconds."""
        limit = self._leave_limit if self.kind == NOTHING else self._return_limit
        if -limit <= level <= limit:
            self._see_empty(level, now_ms)
        elif level < 0:
            self._see_below(level, now_ms)
        elif self._creeps(level, now_ms):
            self._see_creep(level, now_ms)
        else:
            self._see_something(level, now_ms, prompt)
        self._last_ms = now_ms
        self._read_once = True
        return self.kind

    def lost(self) -> None:
        """The readings stopped: what is found next came unseen, but a known chip is remembered."""
        self._read_once = False
        if self.kind != NOTHING:
            self.kind = UNDECIDED
        self._trace.clear()
        self._origin = UNSEEN

    def revoke(self, now_ms: int) -> None:
        """Liquid was found next to here: a chip that was taken for one just now is in doubt."""
        self.near_liquid = True
        if self.kind == CHIP and ticks_diff(now_ms, self._accepted_ms) < REVOKE_MS:
            self._chip_level = None
            self.tainted = True
            self._set(FOREIGN, NEAR_LIQUID)

    # -- what others may know ----------------------------------------------------------------

    def is_restless(self, now_ms: int) -> bool:
        """True while each further reading may change the answer."""
        if self.kind == UNDECIDED:
            return True
        return self.kind == FOREIGN and ticks_diff(now_ms, self._moved_ms) < HAND_LEFT_MAX_MS

    def empty_for_ms(self, now_ms: int) -> int:
        return ticks_diff(now_ms, self._since_ms) if self.kind == NOTHING else 0

    def loose_for_ms(self, now_ms: int) -> int:
        return ticks_diff(now_ms, self._firm_ms) if self.reason == BELOW_EMPTY else 0

    # -- the felt is empty, or was -----------------------------------------------------------

    def _see_empty(self, level: float, now_ms: int) -> None:
        if self._is_disturbed(level):
            self._set(FOREIGN, DISTURBED)
            self._moved_ms = now_ms
        elif self.kind != NOTHING or not self._read_once:
            self._set(NOTHING, "")
            self._chip_level = None
            self.crept = False
            self._slow_level = level
            self._forget(now_ms)
        elif ticks_diff(now_ms, self._since_ms) >= EMPTY_LONG_MS:
            # Kept at this distance, because ticks wrap: long empty must not turn short again.
            self._since_ms = ticks_add(now_ms, -EMPTY_LONG_MS)
        elif self.tainted and ticks_diff(now_ms, self._since_ms) >= DRY_MS:
            self.tainted = False
        self._follow_slowly(level, now_ms)

    def _is_disturbed(self, level: float) -> bool:
        """Empty on average is not empty: what makes such noise may hide a chip as well."""
        change = level - self._last_level if self._read_once else 0.0
        self._last_level = level
        # One jump alone, however large, is no noise.
        square = min(change * change, FLUTTER_JUMP * self._noise * self._noise)
        self._flutter += (square / 2 - self._flutter) / FLUTTER_READINGS
        return self._flutter > FLUTTER_NOISES * FLUTTER_NOISES * self._noise * self._noise

    def _see_below(self, level: float, now_ms: int) -> None:
        """Water can lower a reading. The spot is then not empty, and what comes next is no bet."""
        if self.reason != BELOW_EMPTY:
            self._forget(now_ms)
            self._chip_level = None
            self.crept = False
            self.tainted = True
            self._set(FOREIGN, BELOW_EMPTY)
        if level > LOOSE_PAD:
            self._firm_ms = now_ms
        if self._trace.add(level, now_ms) and self._trace.mean_if_still(DROPPED_MS, now_ms):
            self._tell_rise(now_ms)

    def _creeps(self, level: float, now_ms: int) -> bool:
        """Empty felt that drifts leaves the empty range without ever moving."""
        if not self._read_once or not (self.kind == NOTHING or self.crept):
            return False
        return level <= CREEP_MAX and level - self._slow_level <= CREEP_STEP

    def _see_creep(self, level: float, now_ms: int) -> None:
        self.crept = True
        self._set(FOREIGN, CREPT)
        self._follow_slowly(level, now_ms)

    def _follow_slowly(self, level: float, now_ms: int) -> None:
        part = min(1.0, ticks_diff(now_ms, self._last_ms) / CREEP_MS) if self._read_once else 1.0
        self._slow_level += (level - self._slow_level) * part

    # -- something is here -------------------------------------------------------------------

    def _see_something(self, level: float, now_ms: int, prompt: bool) -> None:
        if self.kind == NOTHING or self.crept or self.reason in (BELOW_EMPTY, DISTURBED):
            self._begin(level, now_ms, prompt)
        else:
            self._see_more(level, now_ms, prompt)
        if self.kind == CHIP and not self._holds(level):
            self._set(UNDECIDED, "")
            self._moved_ms = now_ms
        if self._trace.add(level, now_ms):
            if self.kind != CHIP:
                self._judge(now_ms)
            elif self._trace.is_restless(RESTLESS_MS, now_ms):
                self._set(UNDECIDED, "")
                self._moved_ms = now_ms

    def _see_more(self, level: float, now_ms: int, prompt: bool) -> None:
        age_ms = ticks_diff(now_ms, self._since_ms)
        if prompt and age_ms <= TOUCH_LAG_MS:
            # A reading out of turn was ahead of the touch bit and caught a chip in its fall.
            self._origin = STEPPED
            self._first = self._high = self._low = level
        elif age_ms <= GAP_MAX_MS and level > JUMP * self._high:
            # The first reading caught it in its fall; no hand comes that far between two readings.
            self._origin = STEPPED
            self._first = STACK_MAX
            self._high = self._low = level
        elif age_ms <= LANDING_MS and level > self._low:
            self._high = self._low = level
        elif level > self._high:
            self._high = level
        elif level < self._low:
            self._low = level

    def _begin(self, level: float, now_ms: int, prompt: bool) -> None:
        gap_ms = ticks_diff(now_ms, self._last_ms)
        origin = self._origin
        first = level
        if self._read_once and self.kind == NOTHING:
            if gap_ms <= GAP_MAX_MS:
                origin = STEPPED
                first = STACK_MAX  # seen empty a moment ago: only what follows matters
            elif prompt:
                origin = STEPPED
            elif level >= UNSEEN_MIN:
                origin = UNSEEN
            else:
                origin = SEEN
        elif self._read_once:
            origin = SEEN
        self._forget(now_ms)
        self._origin = origin
        self.crept = False
        self._first = first
        self._high = self._low = level
        self._set(UNDECIDED, "")

    def _holds(self, level: float) -> bool:
        known = self._chip_level
        return known is not None and known - HELD_BELOW <= level <= known + HELD_ABOVE

    def _judge(self, now_ms: int) -> None:
        """After each block: a chip, still undecided, or foreign with the likeliest reason."""
        if self._trace.moved():
            self._moved_ms = now_ms
        level = self._trace.level()
        if self._is_chip(level, now_ms):
            self._accept(now_ms)
            return
        self._look_for_unknown(level, now_ms)
        reason = self._why_foreign(level, now_ms)
        if reason:
            self._set(FOREIGN, reason)

    def _is_chip(self, level: float, now_ms: int) -> bool:
        known = self._chip_level
        if known is not None and known - SAME_CHIP <= level <= known + CARD_ON_CHIP:
            return self._trace.mean_if_still(KNOWN_MS, now_ms) is not None
        if self.tainted or self.near_liquid or not CHIP_MIN <= level <= STACK_MAX:
            return False
        if level > CHIP_MAX:
            came = self._origin == UNSEEN or self._hand_left(level, STACK_MS, now_ms)
            return came and self._rests_in(CHIP_MIN, STACK_MAX, STACK_MS, now_ms)
        if self._origin == UNSEEN:
            return self._rests_in(CHIP_MIN, CHIP_MAX, DROPPED_MS, now_ms)
        if self._dropped(level) and ticks_diff(now_ms, self._since_ms) <= DROPPED_MAX_MS:
            return self._rests_in(DROPPED_MIN, DROPPED_MAX, DROPPED_MS, now_ms)
        # Nobody needs long to put a chip down; what stays longer has to prove more.
        is_young = ticks_diff(now_ms, self._since_ms) < DECIDE_MAX_MS
        rest_ms = LEFT_BEHIND_MS if is_young else STACK_MS
        came = self._hand_left(level, rest_ms, now_ms)
        return came and self._rests_in(CHIP_MIN, CHIP_MAX, rest_ms, now_ms)

    def _rests_in(self, low: float, high: float, rest_ms: int, now_ms: int) -> bool:
        mean = self._trace.mean_if_still(rest_ms, now_ms)
        return mean is not None and low <= mean <= high

    def _dropped(self, level: float) -> bool:
        if self._origin != STEPPED:
            return False
        noise = 3 * self._noise
        slack = STEP_MARGIN * level + noise
        if self._low < level - slack or self._high > level + slack:
            return False
        return self._first >= STEP_FIRST * level - noise

    def _hand_left(self, level: float, rest_ms: int, now_ms: int) -> bool:
        by = HAND_MIN + 4 * self._noise
        return self._trace.fell_to(level, by, rest_ms, HAND_LEFT_MAX_MS, now_ms)

    def _accept(self, now_ms: int) -> None:
        self._chip_level = self._trace.level()
        self._trace.clear()  # from here on only what moves a chip that rests counts as movement
        self._placed = True
        self._accepted_ms = now_ms
        self._set(CHIP, "")

    def _look_for_unknown(self, level: float, now_ms: int) -> None:
        """Marks what no hand put there: until the spot was empty again it cannot become a bet."""
        if self.tainted or self._origin == UNSEEN:
            return
        if not self._placed and self._trace.mean_if_still(DROPPED_MS, now_ms) is not None:
            self._placed = self._dropped(level) or self._hand_left(level, DROPPED_MS, now_ms)
        if self._placed:
            return
        slow = self._trace.rose_slowly(SLOW_BLOCKS, SLOW_RISE)
        if slow or self._trace.mean_if_still(UNKNOWN_STILL_MS, now_ms) is not None:
            self.tainted = True
            self._tell_rise(now_ms)

    def _tell_rise(self, now_ms: int) -> None:
        if not self._told_rise and self.on_unknown_rise is not None:
            self._told_rise = True
            self.on_unknown_rise(now_ms)

    def _why_foreign(self, level: float, now_ms: int) -> str:
        if self.near_liquid:
            return NEAR_LIQUID
        if self.tainted:
            return UNKNOWN
        age_ms = ticks_diff(now_ms, self._since_ms)
        if level > STACK_MAX and age_ms >= LARGE_MS:
            return TOO_LARGE
        if level < CHIP_MIN and self._trace.mean_if_still(DROPPED_MS, now_ms) is not None:
            return TOO_LITTLE
        if age_ms < DECIDE_MAX_MS or self.kind == FOREIGN:
            return self.reason
        return RESTLESS

    def _set(self, kind: int, reason: str) -> None:
        self.kind = kind
        self.reason = reason

    def _forget(self, now_ms: int) -> None:
        self._since_ms = now_ms
        self._moved_ms = now_ms
        self._origin = UNSEEN
        self._placed = False
        self._told_rise = False
        self._firm_ms = now_ms
        self._high = self._low = 0.0
        self._trace.clear()
