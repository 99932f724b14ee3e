"""The recent past of one spot's level in blocks of 50 ms, and how still it was.

It alone knows the statistics: whether a stretch of readings shows nothing but the spot's own noise,
whether something higher left just before it, whether it rose slowly. Levels are in chips: 1.0 is
one calibrated chip. What follows from an answer is decided by the classifier.
"""

from math import sqrt

from hal.aio import ticks_diff

BLOCK_MS = 50
BLOCKS_MAX = 60
# A stretch needs this many readings, and one for so many milliseconds of it: a still picture of two
# moments proves nothing.
READINGS_MIN = 10
READING_EVERY_MAX_MS = 30
# How far above its noise a stretch may look before it counts as moving (about 1 in 1000).
SPREAD_MARGIN = 4.2
WANDER_MARGIN = 4.5
TREND_MARGIN = 3.5
CERTAIN_MARGIN = 8
# How far the mean of a block may lie from where a thing has come to rest.
RESTING_NOISES = 2
RESTING = 0.03
# Blocks a rising level may spend near where it will later rest.
SAME_LEVEL = 0.12
CROSSINGS_MAX = 2


class Block:
    """The readings of one stretch of about BLOCK_MS."""

    __slots__ = ("begin_ms", "count", "high", "low", "squares", "total")

    def __init__(self, begin_ms: int, level: float) -> None:
        self.begin_ms = begin_ms
        self.count = 1
        self.total = level
        self.squares = level * level
        self.high = level
        self.low = level

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
        if ticks_diff(now_ms, block.begin_ms) < BLOCK_MS:
            block.count += 1
            block.total += level
            block.squares += level * level
            if level > block.high:
                block.high = level
            elif level < block.low:
                block.low = level
            return False
        self._blocks.append(block)
        if len(self._blocks) > BLOCKS_MAX:
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
        self, duration_ms: int, now_ms: int, spread_margin: float = SPREAD_MARGIN
    ) -> "float | None":
        """The mean of the last `duration_ms`, or None when it moved or was not looked at enough.

        Where readings are far apart it looks back further, until there are enough of them.
        """
        enough = max(READINGS_MIN, duration_ms // READING_EVERY_MAX_MS)
        first, count, mean, variance = self._last(duration_ms, now_ms, enough)
        if not count:
            return None
        noise = self._noise * self._noise
        if variance > noise * (1 + spread_margin * sqrt(2 / count)):
            return None
        blocks = self._blocks[first:]
        if self._open is not None:
            blocks.append(self._open)
        if self._wanders(blocks, mean, noise) or self._trends(blocks, count):
            return None
        return mean

    def is_restless(self, duration_ms: int, now_ms: int) -> bool:
        """True when the last `duration_ms` certainly shows more than noise."""
        _first, count, _mean, variance = self._last(duration_ms, now_ms, READINGS_MIN)
        noise = self._noise * self._noise
        return count > 0 and variance > noise * (1 + CERTAIN_MARGIN * sqrt(2 / count))

    def rests_since_ms(self, level: float, now_ms: int) -> int:
        """When what is at `level` now came to it; `now_ms` when that was only just."""
        since_ms = now_ms
        blocks = self._blocks if self._open is None else self._blocks + [self._open]
        for index in range(len(blocks) - 1, -1, -1):
            if abs(blocks[index].mean() - level) > RESTING_NOISES * self._noise + RESTING:
                break
            since_ms = blocks[index].begin_ms
        return since_ms

    def fell_to(self, level: float, by: float, still_ms: int, before_ms: int, now_ms: int) -> bool:
        """True when something at least `by` higher left in the `before_ms` before the still end.

        What had been at this level before it went higher only sways: nothing left it behind.
        """
        was_high = False
        crossings = 0
        for index in range(len(self._blocks) - 1, -1, -1):
            block = self._blocks[index]
            if block.high >= level + by:
                was_high = True
            elif not was_high and ticks_diff(now_ms, block.begin_ms) > still_ms + before_ms:
                return False
            elif was_high and abs(block.total / block.count - level) < SAME_LEVEL:
                crossings += 1
        return was_high and crossings <= CROSSINGS_MAX

    def rose_slowly(self, count: int, by: float) -> bool:
        """True when the last `count` blocks climbed by `by` without a step back or a jump."""
        if len(self._blocks) < count:
            return False
        means = [block.mean() for block in self._blocks[-count:]]
        rise = means[-1] - means[0]
        if rise < by:
            return False
        slack = 2 * self._noise
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
        return abs(change) > 4 * self._noise + 0.03

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
        freedom = len(blocks) - 1
        if freedom < 1:
            return False
        between = 0.0
        for block in blocks:
            apart = block.total / block.count - mean
            between += block.count * apart * apart
        return between > noise * freedom * (1 + WANDER_MARGIN * sqrt(2 / freedom))

    def _trends(self, blocks: "list[Block]", count: int) -> bool:
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
        return abs(apart) > TREND_MARGIN * self._noise * 2 / sqrt(count)
