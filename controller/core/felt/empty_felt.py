"""What empty felt reads at one spot: how far it may lie from zero, flutter, and slowly drift.

It alone knows these bounds. A reading inside them is not yet an empty spot: it has to rest there as
felt does, and that is for the classifier to see. Levels are in chips.
"""

from controller.core.felt import tuning


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
        # A noisy pad gets a wider range, but never one that a chip would fit into.
        wanted = max(tuning.EMPTY_MAX_CHIPS, tuning.EMPTY_NOISES * noise)
        limit = min(tuning.EMPTY_LIMIT_MAX_CHIPS, wanted)
        # Apart by more than noise spans, or a small thing at the edge would come and go.
        self.leave_limit = limit + tuning.LEAVE_NOISES * noise
        self.return_limit = limit * tuning.EMPTY_AGAIN_PART
        self._sink = max(tuning.SINK_MIN_CHIPS, tuning.SINK_NOISES * noise)
        self._noise_square = noise * noise
        self.begin(0.0)

    def begin(self, level: float) -> None:
        """From here on the felt is known to be empty and to read `level`."""
        self.level = self._last_level = level
        self._flutter = 0.0

    def reads_empty(self, level: float, base: float, was_empty: bool) -> bool:
        """Whether this is a reading of felt; `base` is what drifted felt reads under a thing.

        What lay on drifted felt is gone when it reads what the felt read before, or nothing at all.
        """
        limit = self.leave_limit if was_empty else self.return_limit
        is_at_zero = -limit <= level <= limit
        if not base:
            return is_at_zero
        # Felt that had sunk reads its base when it is bare. Zero would then be a thing on it.
        if base > 0 and is_at_zero:
            return True
        may_be_felt = -tuning.CREEP_MAX_CHIPS <= level <= tuning.CREEP_MAX_CHIPS
        return may_be_felt and -limit <= level - base <= limit

    def is_back(self, level: float) -> bool:
        """True when it reads as empty felt at its stored zero does."""
        return -self.return_limit <= level <= self.return_limit

    def flutters(self, level: float) -> bool:
        """Empty on average is not empty: what makes such noise may hide a chip as well."""
        change = level - self._last_level
        self._last_level = level
        # One jump alone, however large, is no noise.
        square = min(change * change, tuning.FLUTTER_JUMP_NOISE_SQUARES * self._noise_square)
        # The difference of two readings has twice the variance of one, hence the half. The mean
        # forgets slowly, so that no list of readings has to be kept.
        self._flutter += (square / 2 - self._flutter) / tuning.FLUTTER_READINGS
        return self._flutter > tuning.FLUTTER_NOISES * tuning.FLUTTER_NOISES * self._noise_square

    def sinks(self, level: float) -> bool:
        """A sudden fall, however small, is no drift: water that flows lowers a reading."""
        return level < self.level - self._sink

    def follow(self, level: float, passed_ms: int) -> None:
        """Moves towards the reading by as much of the way as of CREEP_MS has passed."""
        self.level += (level - self.level) * min(1.0, passed_ms / tuning.CREEP_MS)

    def creeps(self, level: float) -> bool:
        """Felt that drifts leaves the empty range, either way, without ever moving."""
        if not -tuning.CREEP_MAX_CHIPS <= level <= tuning.CREEP_MAX_CHIPS:
            return False
        # Against the followed level, not the last reading: steps that add up are a movement.
        return abs(level - self.level) <= tuning.CREEP_STEP_CHIPS
