"""How something came to a spot: in one step as a chip falls, or otherwise.

It alone knows what the first readings of a drop look like. Whether what came rests, and what it is,
others decide. Levels are in chips above the felt it came to.
"""

from controller.core.felt import tuning

STEPPED = 1  # seen to come within one or two readings
JUMPED = 2  # came between two readings far apart: an interrupt was lost, or could not speak
SEEN = 3  # came while it was looked at, and not in one step
UNSEEN = 4  # was there when the readings began


class Arrival:
    """The present object's first readings, and the range it has kept since."""

    __slots__ = ("_clean_slack", "_first", "_high", "_low", "_shown", "_slack", "origin")

    def __init__(self, noise: float) -> None:
        self._slack = tuning.STEP_NOISES * noise
        self._clean_slack = tuning.CLEAN_NOISES * noise
        self.begin(0.0, UNSEEN)

    def _land(self, level: float, origin: int) -> None:
        self.origin = origin
        self._first = self._high = self._low = level

    def begin(self, level: float, origin: int) -> None:
        # Two first readings: `_shown` is the very first, for good; `_first` starts anew with each
        # reading that still shows it landing.
        self._shown = level
        self._land(level, origin)

    def begin_from_empty(self, level: float, gap_ms: int, prompt: bool) -> None:
        """The felt was empty `gap_ms` ago; `prompt`: an interrupt told of the arrival at once."""
        if gap_ms <= tuning.GAP_MAX_MS:
            self.begin(level, STEPPED)
            # Seen empty a moment ago: whatever the first reading showed, it came in one step, so
            # any level passes the test of the first reading.
            self._first = tuning.STACK_MAX_CHIPS
        elif prompt:
            self.begin(level, STEPPED)
        else:
            self.begin(level, JUMPED if level >= tuning.JUMPED_MIN_CHIPS else SEEN)

    def see(self, level: float, age_ms: int, prompt: bool) -> bool:
        """A further reading, `age_ms` after the first; True when it is landing only now."""
        if age_ms > tuning.GAP_MAX_MS:
            # It has landed: from here on it only keeps the range in which it was seen.
            self._keep(level)
            return False
        is_landing = level > self._low + self._slack
        if prompt and age_ms <= tuning.TOUCH_LAG_MS and self.origin != UNSEEN:
            # A reading out of turn was ahead of the touch bit and caught a chip in its fall. Right
            # after a start the touch bit tells only that the chip has begun to measure.
            self._land(level, STEPPED)
        elif level > tuning.STEP_JUMP_TIMES * self._high:
            # The first reading caught it in its fall; no hand comes that far between two readings.
            self._land(level, STEPPED)
            self._first = tuning.STACK_MAX_CHIPS
        elif age_ms <= tuning.LANDING_MS and level > self._low:
            # Still on its way down: what it showed before is not held against it.
            self._high = self._low = level
        else:
            self._keep(level)
            is_landing = False
        return is_landing

    def is_drop(self, level: float) -> bool:
        """True when it came in one step and has kept its level ever since."""
        if self.origin not in (STEPPED, JUMPED):
            return False
        slack = tuning.STEP_MARGIN_PART * level + self._slack
        if self._low < level - slack or self._high > level + slack:
            return False
        return self._first >= tuning.STEP_FIRST_PART * level - self._slack

    def is_clean_drop(self, level: float) -> bool:
        """True when already the very first reading showed all of it."""
        whole = tuning.CLEAN_PART * level - self._clean_slack
        return self.origin == STEPPED and self._shown >= whole

    def _keep(self, level: float) -> None:
        self._high = max(self._high, level)
        self._low = min(self._low, level)
