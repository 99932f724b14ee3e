"""The evidence about the object on a spot: does it rest like a chip, and how did it get there?

It alone knows which weight, rest and arrival make a chip, and what only liquid or a foreign thing
does. It remembers one object at a time; what is empty, wet or disturbed the classifier knows.
Levels are in chips above the felt.
"""

from controller.core.felt import tuning
from controller.core.felt.arrival import STEPPED, UNSEEN, Arrival
from controller.core.felt.level_history import Trace
from controller.core.felt.reasons import RESTLESS, TOO_LARGE, TOO_LITTLE
from hal.aio import ticks_diff


class Evidence:
    """One object at a time, from `begin` to `begin`."""

    __slots__ = ("_hand_min", "_moved_ms", "_placed", "_since_ms", "arrival", "trace")

    def __init__(self, noise: float) -> None:
        self.arrival = Arrival(noise)
        self.trace = Trace(noise)
        self._hand_min = tuning.HAND_MIN_CHIPS + tuning.HAND_NOISES * noise
        self._since_ms = 0
        self._moved_ms = 0
        self._placed = False

    def begin(self, now_ms: int) -> None:
        self._since_ms = self._moved_ms = now_ms
        self._placed = False
        self.trace.clear()

    def see(self, level: float, now_ms: int, prompt: bool) -> None:
        if self.arrival.see(level, ticks_diff(now_ms, self._since_ms), prompt):
            self.trace.clear()  # it rests from here on at the earliest

    def note_move(self, now_ms: int) -> None:
        self._moved_ms = now_ms

    def moved_lately(self, now_ms: int) -> bool:
        """True while a hand may still be about: what it leaves behind shows soon or never."""
        return ticks_diff(now_ms, self._moved_ms) < tuning.HAND_LEFT_MAX_MS

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
        rest_ms = tuning.DROP_REST_MS
        is_young = rest_ms <= self.age_ms(now_ms) < rest_ms + tuning.BLOCK_MS
        return is_young and self.arrival.origin == STEPPED

    def is_known_chip(self, level: float, known: float, now_ms: int) -> bool:
        """The chip that was accepted before lies there still, or again."""
        if not known - tuning.KNOWN_BELOW_CHIPS <= level <= known + tuning.KNOWN_ABOVE_CHIPS:
            return False
        # A hand may have taken the chip and left wet felt, which goes on rising.
        was_touched = self._hand_left(level, tuning.LEFT_BEHIND_REST_MS, now_ms)
        rest_ms = tuning.LEFT_BEHIND_REST_MS if was_touched else tuning.KNOWN_REST_MS
        return self.trace.mean_if_still(rest_ms, now_ms) is not None

    def is_new_chip(self, level: float, now_ms: int) -> bool:
        """It weighs as a chip or a stack does, and came and rests as one: all of it, or no chip."""
        if not tuning.WEIGHT_MIN_CHIPS <= level <= tuning.STACK_MAX_CHIPS:
            return False
        is_unseen = self.arrival.origin == UNSEEN
        if level > tuning.WEIGHT_MAX_CHIPS:
            # A low hand weighs as much: somebody has to have been seen to leave a stack there.
            rest_ms = tuning.STACK_REST_MS
            came = is_unseen or self._hand_left(level, rest_ms, now_ms)
            return came and self._rests_below(tuning.STACK_MAX_CHIPS, rest_ms, now_ms)
        if is_unseen:
            return self._rests_below(tuning.WEIGHT_MAX_CHIPS, tuning.UNSEEN_REST_MS, now_ms)
        if self.age_ms(now_ms) <= tuning.DROP_AGE_MAX_MS and self.arrival.is_drop(level):
            return self._drop_rests(level, now_ms)
        rest_ms = self._hand_rest_ms(level, now_ms)
        came = self._hand_left(level, rest_ms, now_ms)
        return came and self._rests_below(tuning.WEIGHT_MAX_CHIPS, rest_ms, now_ms)

    def no_hand_put_it(self, level: float, now_ms: int) -> bool:
        """True when it came as liquid does: it rose slowly, or rests though nothing brought it."""
        if self.arrival.origin == UNSEEN:
            return False  # nobody saw how it came, so nothing speaks against a hand
        # Asked while it first rests, and kept: later the hand is too long ago to be in the trace.
        if not self._placed and self.trace.mean_if_still(tuning.STILL_MS, now_ms) is not None:
            dropped = self.arrival.is_drop(level)
            self._placed = dropped or self._hand_left(level, tuning.STILL_MS, now_ms)
        # Also where a hand has been: felt that soaks under a hand goes on rising without it.
        if self.trace.rose_slowly(tuning.SLOW_BLOCKS, tuning.SLOW_RISE_CHIPS):
            return True
        if self._placed:
            return False
        return self.trace.mean_if_still(tuning.UNKNOWN_STILL_MS, now_ms) is not None

    def why_no_chip(self, level: float, now_ms: int) -> str:
        """The likeliest reason, or "" while it may still turn out to be one."""
        age_ms = self.age_ms(now_ms)
        if level > tuning.STACK_MAX_CHIPS and age_ms >= tuning.TOO_LARGE_MS:
            return TOO_LARGE
        is_light = level < tuning.WEIGHT_MIN_CHIPS
        if is_light and self.trace.mean_if_still(tuning.STILL_MS, now_ms) is not None:
            return TOO_LITTLE
        return "" if age_ms < tuning.DECIDE_MAX_MS else RESTLESS

    def _hand_rest_ms(self, level: float, now_ms: int) -> int:
        """How long what a hand left has to rest."""
        # Nobody needs long to put a chip down, and most weigh what they should; a finger that lies
        # still for a while does not. What is unusual has to prove more.
        if self.age_ms(now_ms) >= tuning.DECIDE_MAX_MS:
            return tuning.LINGERED_REST_MS
        is_usual = tuning.USUAL_MIN_CHIPS <= level <= tuning.USUAL_MAX_CHIPS
        return tuning.LEFT_BEHIND_REST_MS if is_usual else tuning.STACK_REST_MS

    def _drop_rests(self, level: float, now_ms: int) -> bool:
        is_clean = self.arrival.is_clean_drop(level)
        for rest_ms, spread_sigmas in tuning.DROP_RESTS_MS_SIGMAS:
            # What was caught on its way may be a splash: it gets the time to show that it grows.
            if is_clean or rest_ms >= tuning.LANDED_REST_MS:
                mean = self.trace.mean_if_still(rest_ms, now_ms, spread_sigmas)
                if mean is not None and tuning.DROP_MIN_CHIPS <= mean <= tuning.DROP_MAX_CHIPS:
                    return True
        return False

    def _rests_below(self, high: float, rest_ms: int, now_ms: int) -> bool:
        """At rest, at least a chip and at most `high`: by its mean, which noise moves little."""
        mean = self.trace.mean_if_still(rest_ms, now_ms)
        return mean is not None and tuning.WEIGHT_MIN_CHIPS <= mean <= high

    def _hand_left(self, level: float, rest_ms: int, now_ms: int) -> bool:
        before_ms = tuning.HAND_LEFT_MAX_MS
        return self.trace.fell_to(level, self._hand_min, rest_ms, before_ms, now_ms)
