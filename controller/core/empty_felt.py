"""What empty felt reads at one spot: how far it may lie from zero, flutter, and slowly drift.

It alone knows these bounds. A reading inside them is not yet an empty spot: it has to rest there as
felt does, and that is for the classifier to see. Levels are in chips.
"""

EMPTY_MAX = 0.12
EMPTY_NOISES = 6
EMPTY_LIMIT_MAX = 0.25
LEAVE_NOISES = 3
EMPTY_AGAIN = 0.75  # Of the limit: what left the empty range must come back well inside it.

FLUTTER_READINGS = 8
FLUTTER_NOISES = 3
FLUTTER_JUMP = 60

SINK_MIN = 0.05
SINK_NOISES = 5

CREEP_MAX = 0.35
CREEP_STEP = 0.06
CREEP_MS = 3000


class EmptyFelt:
    """One spot's empty range, the noise in it, and the level it slowly follows."""

    __slots__ = (
        "_flutter",
        "_last_level",
        "_noise_square",
        "_sink",
        "leave_limit",
        "level",
        "return_limit",
    )

    def __init__(self, noise: float) -> None:
        limit = min(EMPTY_LIMIT_MAX, max(EMPTY_MAX, EMPTY_NOISES * noise))
        # Apart by more than noise spans, or a small thing at the edge would come and go.
        self.leave_limit = limit + LEAVE_NOISES * noise
        self.return_limit = limit * EMPTY_AGAIN
        self.level = 0.0
        self._sink = max(SINK_MIN, SINK_NOISES * noise)
        self._noise_square = noise * noise
        self._flutter = 0.0
        self._last_level = 0.0

    def begin(self, level: float) -> None:
        """From here on the felt is known to be empty and to read `level`."""
        self.level = self._last_level = level
        self._flutter = 0.0

    def flutters(self, level: float) -> bool:
        """Empty on average is not empty: what makes such noise may hide a chip as well."""
        change = level - self._last_level
        self._last_level = level
        # One jump alone, however large, is no noise.
        square = min(change * change, FLUTTER_JUMP * self._noise_square)
        self._flutter += (square / 2 - self._flutter) / FLUTTER_READINGS
        return self._flutter > FLUTTER_NOISES * FLUTTER_NOISES * self._noise_square

    def sinks(self, level: float) -> bool:
        """A sudden fall, however small, is no drift: water that flows lowers a reading."""
        return level < self.level - self._sink

    def follow(self, level: float, passed_ms: int) -> None:
        self.level += (level - self.level) * min(1.0, passed_ms / CREEP_MS)

    def creeps(self, level: float) -> bool:
        """Felt that drifts leaves the empty range, either way, without ever moving."""
        return -CREEP_MAX <= level <= CREEP_MAX and abs(level - self.level) <= CREEP_STEP
