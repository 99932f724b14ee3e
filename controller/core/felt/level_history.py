"""The recent past of one spot's level in blocks of 50 ms, and how still it was.

It alone knows the statistics: whether a stretch of readings shows nothing but the spot's own noise,
whether something higher left just before it, whether it rose slowly. Levels are in chips: 1.0 is
one calibrated chip. What follows from an answer is decided by the classifier.
"""

from math import sqrt

from controller.core.felt import tuning
from hal.aio import ticks_diff


class Block:
    """The readings of one stretch of about BLOCK_MS.

    Sums instead of readings: a mean and a variance over many blocks cost a few additions, and three
    seconds of a spot fit a microcontroller.
    """

    __slots__ = ("begin_ms", "count", "high", "squares", "total")

    def __init__(self, begin_ms: int, level: float) -> None:
        self.begin_ms = begin_ms
        self.count = 1
        self.total = level
        self.squares = level * level
        self.high = level

    def mean(self) -> float:
        return self.total / self.count


class Trace:
    """Fed with each reading; `add` answers True when a block is complete and worth a judgement."""

    __slots__ = ("_blocks", "_noise", "_open")

    def __init__(self, noise: float) -> None:
        self._noise = noise
        self._blocks: "list[Block]" = []
        self._open: "Block | None" = None

    def clear(self) -> None:
        self._blocks = []
        self._open = None

    def add(self, level: float, now_ms: int) -> bool:
        block = self._open
        if block is None:
            self._open = Block(now_ms, level)
            return False
        if ticks_diff(now_ms, block.begin_ms) < tuning.BLOCK_MS:
            block.count += 1
            block.total += level
            block.squares += level * level
            block.high = max(block.high, level)
            return False
        self._blocks.append(block)
        if len(self._blocks) > tuning.BLOCKS_MAX:
            self._blocks.pop(0)
        self._open = Block(now_ms, level)
        return True

    def level(self) -> float:
        """The mean of the last two blocks."""
        total = 0.0
        count = 0
        for block in self._blocks[-2:]:
            total += block.total
            count += block.count
        return total / count if count else 0.0

    def mean_if_still(
        self, duration_ms: int, now_ms: int, spread_sigmas: "float | None" = None
    ) -> "float | None":
        """The mean of the last `duration_ms`, or None when it moved or was not looked at enough.

        Where readings are far apart it looks back further, until there are enough of them.
        """
        enough = max(tuning.READINGS_MIN, duration_ms // tuning.READING_EVERY_MAX_MS)
        first, count, mean, variance = self._last(duration_ms, now_ms, enough)
        if not count:
            return None
        if spread_sigmas is None:
            spread_sigmas = tuning.SPREAD_MARGIN_SIGMAS
        noise = self._noise * self._noise
        # A variance estimated from n readings has itself a deviation of sqrt(2 / n) of its value:
        # few readings have to look a good deal noisier before they are called moving.
        if variance > noise * (1 + spread_sigmas * sqrt(2 / count)):
            return None
        # The spread alone misses what moves slowly: a hand that sinks, felt that soaks.
        blocks = self._all()[first:]
        if self._wanders(blocks, mean, noise) or self._trends(blocks, count):
            return None
        return mean

    def is_restless(self, duration_ms: int, now_ms: int) -> bool:
        """True when the last `duration_ms` certainly shows more than noise."""
        _first, count, _mean, variance = self._last(duration_ms, now_ms, tuning.READINGS_MIN)
        if not count:
            return False
        noise = self._noise * self._noise
        # As in `mean_if_still`, from the other side: the benefit of the doubt is the chip's.
        return variance > noise * (1 + tuning.CERTAIN_MARGIN_SIGMAS * sqrt(2 / count))

    def rests_since_ms(self, level: float, now_ms: int) -> int:
        """When what is at `level` now came to it; `now_ms` when that was only just."""
        since_ms = now_ms
        near = tuning.RESTING_NOISES * self._noise + tuning.RESTING_CHIPS
        for block in reversed(self._all()):
            if abs(block.mean() - level) > near:
                break
            since_ms = block.begin_ms
        return since_ms

    def fell_to(self, level: float, by: float, still_ms: int, before_ms: int, now_ms: int) -> bool:
        """True when something at least `by` higher left in the `before_ms` before the still end.

        What had been at this level before it went higher only sways: nothing left it behind.
        """
        was_high = False
        crossings = 0
        # Backwards in time: first the rest itself, then what left, then what was before that came.
        for block in reversed(self._blocks):
            if block.high >= level + by:
                was_high = True  # by the block's highest reading: a hand may leave within one block
            elif not was_high and ticks_diff(now_ms, block.begin_ms) > still_ms + before_ms:
                return False
            elif was_high and abs(block.mean() - level) < tuning.SAME_LEVEL_CHIPS:
                crossings += 1
        # What only rises and falls passes through the level now and then; it must not stay there.
        return was_high and crossings <= tuning.CROSSINGS_MAX

    def rose_slowly(self, count: int, by: float) -> bool:
        """True when the last `count` blocks climbed by `by` without a step back or a jump."""
        if len(self._blocks) < count:
            return False
        means = [block.mean() for block in self._blocks[-count:]]
        rise = means[-1] - means[0]
        if rise < by:
            return False
        # Liquid climbs in every block. A chip that is put down makes most of its rise in one, and
        # what sways falls back.
        slack = tuning.SLOW_SLACK_NOISES * self._noise
        for index in range(1, count):
            step = means[index] - means[index - 1]
            if step < -slack or step > rise / 2 + slack:
                return False
        return True

    def moved(self) -> bool:
        """True when the last block lies clearly beside the one before it."""
        if len(self._blocks) < 2:
            return True
        change = self._blocks[-1].mean() - self._blocks[-2].mean()
        return abs(change) > tuning.MOVED_NOISES * self._noise + tuning.MOVED_CHIPS

    def _all(self) -> "list[Block]":
        """With the one that is still open."""
        return self._blocks if self._open is None else self._blocks + [self._open]

    def _last(self, duration_ms: int, now_ms: int, enough: int) -> "tuple[int, int, float, float]":
        """(first block, count, mean, variance) of the last `duration_ms` and `enough` readings.

        The block that is still open counts with what it has. The count is 0 when the trace does not
        reach back that far.
        """
        blocks = self._blocks
        count = 0
        total = 0.0
        squares = 0.0
        newest = self._open
        if newest is not None:
            count, total, squares = newest.count, newest.total, newest.squares
        # Newest first, and whole blocks only: the answer covers at least what was asked for.
        for index in range(len(blocks) - 1, -1, -1):
            block = blocks[index]
            count += block.count
            total += block.total
            squares += block.squares
            if count >= enough and ticks_diff(now_ms, block.begin_ms) >= duration_ms:
                mean = total / count
                return index, count, mean, squares / count - mean * mean
        return 0, 0, 0.0, 0.0

    def _wanders(self, blocks: "list[Block]", mean: float, noise: float) -> bool:
        """True when the blocks' means differ by more than the noise within them explains."""
        # Analysis of variance: n·(mean of a block - mean of all)² summed over the blocks is noise²
        # times the degrees of freedom on average, with a deviation of sqrt(2 / freedom) of that.
        freedom = len(blocks) - 1
        if freedom < 1:
            return False
        between = 0.0
        for block in blocks:
            apart = block.total / block.count - mean
            between += block.count * apart * apart
        margin = tuning.WANDER_MARGIN_SIGMAS * sqrt(2 / freedom)
        return between > noise * freedom * (1 + margin)

    def _trends(self, blocks: "list[Block]", count: int) -> bool:
        """True when the second half lies clearly beside the first: the slowest of movements."""
        half = len(blocks) // 2
        if not half:
            return False
        first = 0.0
        first_count = 0
        second = 0.0
        second_count = 0
        for block in blocks[:half]:
            first += block.total
            first_count += block.count
        for block in blocks[half:]:
            second += block.total
            second_count += block.count
        apart = second / second_count - first / first_count
        # Each half's mean of n / 2 readings deviates by noise / sqrt(n / 2), and the difference of
        # the two by noise · 2 / sqrt(n).
        return abs(apart) > tuning.TREND_MARGIN_SIGMAS * self._noise * 2 / sqrt(count)
