"""How something came to a spot: in one step as a chip falls, or otherwise.

It alone knows what the first readings of a drop look like. Whether what came rests, and what it is,
others decide. Levels are in chips above the felt it came to.
"""

STEPPED = 1  # seen to come within one or two readings
JUMPED = 2  # came between two readings far apart: an interrupt was lost, or could not speak
SEEN = 3  # came while it was looked at, and not in one step
UNSEEN = 4  # was there when the readings began

GAP_MAX_MS = 30
TOUCH_LAG_MS = 20
LANDING_MS = 18  # A second reading may still find it landing, a third may not.
JUMPED_MIN = 0.50
STACK_MAX = 2.60
# Parts of the level: a drop is there at once and neither grows nor shrinks after that.
STEP_FIRST = 0.45
STEP_CLEAN = 0.97  # Chips land in a few milliseconds; the front of a splash takes some tens.
CLEAN_NOISES = 1  # what its first reading may lack besides
STEP_MARGIN = 0.08
STEP_JUMP = 1.5  # From one reading to the next, while it lands.


class Arrival:
    """The present object's first readings, and the range it has kept since."""

    __slots__ = ("_clean_slack", "_first", "_high", "_low", "_shown", "_slack", "origin")

    def __init__(self, noise: float) -> None:
        self.origin = UNSEEN
        self._slack = 3 * noise
        self._clean_slack = CLEAN_NOISES * noise
        self._first = 0.0
        self._shown = 0.0
        self._high = 0.0
        self._low = 0.0

    def begin(self, level: float, origin: int) -> None:
        self._shown = level
        self._land(level, origin)

    def begin_from_empty(self, level: float, gap_ms: int, prompt: bool) -> None:
        """The felt was empty `gap_ms` ago; `prompt`: an interrupt told of the arrival at once."""
        if gap_ms <= GAP_MAX_MS:
            self.begin(level, STEPPED)
            self._first = STACK_MAX  # seen empty a moment ago: only what follows matters
        elif prompt:
            self.begin(level, STEPPED)
        else:
            self.begin(level, JUMPED if level >= JUMPED_MIN else SEEN)

    def see(self, level: float, age_ms: int, prompt: bool) -> bool:
        """A further reading, `age_ms` after the first; True when it is landing only now."""
        if age_ms > GAP_MAX_MS:
            if level > self._high:
                self._high = level
            elif level < self._low:
                self._low = level
            return False
        is_landing = level > self._low + self._slack
        if prompt and age_ms <= TOUCH_LAG_MS and self.origin != UNSEEN:
            # A reading out of turn was ahead of the touch bit and caught a chip in its fall. Right
            # after a start the touch bit tells only that the chip has begun to measure.
            self._land(level, STEPPED)
        elif level > STEP_JUMP * self._high:
            # The first reading caught it in its fall; no hand comes that far between two readings.
            self._land(level, STEPPED)
            self._first = STACK_MAX
        elif age_ms <= LANDING_MS and level > self._low:
            self._high = self._low = level
        else:
            self._high = max(self._high, level)
            self._low = min(self._low, level)
            is_landing = False
        return is_landing

    def is_drop(self, level: float) -> bool:
        """True when it came in one step and has kept its level ever since."""
        if self.origin not in (STEPPED, JUMPED):
            return False
        slack = STEP_MARGIN * level + self._slack
        if self._low < level - slack or self._high > level + slack:
            return False
        return self._first >= STEP_FIRST * level - self._slack

    def is_clean_drop(self, level: float) -> bool:
        """True when already the very first reading showed all of it."""
        return self.origin == STEPPED and self._shown >= STEP_CLEAN * level - self._clean_slack

    def _land(self, level: float, origin: int) -> None:
        self.origin = origin
        self._first = self._high = self._low = level
