"""The recent past of a level: what counts as still, fallen, risen or moved, and from when."""

from __future__ import annotations

from math import sqrt

import pytest

from controller.core.felt import tuning
from controller.core.felt.level_history import Trace

NOISE = 0.01
EVERY_MS = 10
BLOCK = tuning.BLOCK_MS


class Watched:
    def __init__(self) -> None:
        self.trace = Trace(NOISE)
        self.now_ms = 0
        self.due: list[bool] = []

    def see(self, level: float, duration_ms: int, swing: float = 0.0) -> None:
        for index in range(duration_ms // EVERY_MS):
            here = level + (swing if index % 2 else -swing)
            self.due.append(self.trace.add(here, self.now_ms))
            self.now_ms += EVERY_MS

    def blocks(self, *means: float) -> None:
        for mean in means:
            self.see(mean, BLOCK)

    def still(self, duration_ms: int) -> float | None:
        return self.trace.mean_if_still(duration_ms, self.now_ms)


@pytest.fixture
def watched() -> Watched:
    return Watched()


# -- blocks --------------------------------------------------------------------------------------


def test_a_block_is_complete_with_the_first_reading_after_it(watched: Watched) -> None:
    watched.see(1.0, 2 * BLOCK + EVERY_MS)
    assert [index * EVERY_MS for index, due in enumerate(watched.due) if due] == [50, 100]


def test_only_so_many_blocks_are_kept(watched: Watched) -> None:
    watched.see(1.0, BLOCK * (tuning.BLOCKS_MAX + 5))
    assert len(watched.trace._blocks) == tuning.BLOCKS_MAX
    assert watched.trace._blocks[0].begin_ms == 4 * BLOCK


def test_the_level_is_the_mean_of_the_last_two_blocks(watched: Watched) -> None:
    assert watched.trace.level() == 0.0
    watched.blocks(9.0, 1.0, 2.0, 7.0)  # the last one is still open
    assert watched.trace.level() == pytest.approx(1.5)


def test_a_block_knows_its_highest_reading_and_its_mean(watched: Watched) -> None:
    for level in (1.0, 3.0, 0.5, 2.0):
        watched.trace.add(level, watched.now_ms)
    block = watched.trace._open
    assert block is not None
    assert (block.high, block.count, block.mean()) == (3.0, 4, 1.625)


def test_nothing_is_left_after_it_was_cleared(watched: Watched) -> None:
    watched.see(1.0, 500)
    watched.trace.clear()
    assert watched.trace._open is None
    assert watched.still(100) is None
    assert watched.trace.level() == 0.0


# -- still ---------------------------------------------------------------------------------------


def test_what_shows_nothing_but_its_noise_is_still(watched: Watched) -> None:
    watched.see(1.0, 400, swing=NOISE)
    assert watched.still(300) == pytest.approx(1.0, abs=0.001)


def test_what_was_not_looked_at_for_long_enough_is_not_still(watched: Watched) -> None:
    watched.see(1.0, 300)
    assert watched.still(300) == pytest.approx(1.0)
    assert watched.still(301) is None


def test_few_readings_are_not_enough_however_long_they_took() -> None:
    slow = Trace(NOISE)
    needed = tuning.READINGS_MIN
    for index in range(needed):
        slow.add(1.0, index * 100)
    assert slow.mean_if_still(100, (needed - 1) * 100) == pytest.approx(1.0)
    few = Trace(NOISE)
    for index in range(needed - 1):
        few.add(1.0, index * 100)
    assert few.mean_if_still(100, (needed - 2) * 100) is None


def test_the_spread_may_be_a_little_more_than_the_noise_and_no_more(watched: Watched) -> None:
    watched.see(1.0, 500, swing=1.3 * NOISE)
    assert watched.still(300) is not None
    assert watched.trace.mean_if_still(300, watched.now_ms, 0.5) is None
    loud = Watched()
    loud.see(1.0, 500, swing=1.55 * NOISE)
    assert loud.still(300) is None
    assert loud.trace.is_restless(300, loud.now_ms) is False, "not for certain"
    wild = Watched()
    wild.see(1.0, 500, swing=4 * NOISE)
    assert wild.trace.is_restless(300, wild.now_ms)


# What a stretch of 30 readings in six blocks may show: at the limit itself the answer turns.
READINGS, BLOCKS, HALF = 30, 6, 3
SPREAD = sqrt(1 + tuning.SPREAD_MARGIN_SIGMAS * sqrt(2 / READINGS))
CERTAIN = sqrt(1 + tuning.CERTAIN_MARGIN_SIGMAS * sqrt(2 / READINGS))
FREEDOM = BLOCKS - 1
WANDER = sqrt(FREEDOM * (1 + tuning.WANDER_MARGIN_SIGMAS * sqrt(2 / FREEDOM)) / READINGS)
TREND = tuning.TREND_MARGIN_SIGMAS / sqrt(READINGS)


@pytest.mark.parametrize(("part", "is_still"), [(0.99, True), (1.01, False)])
def test_the_limits_of_stillness_are_those_of_the_statistics(part: float, is_still: bool) -> None:
    """Catches: a figure of a formula that is off by one and moves the limit a little."""
    spread, wander, trend = Watched(), Watched(), Watched()
    spread.see(1.0, 400, swing=part * SPREAD * NOISE)
    apart = part * WANDER * NOISE
    wander.blocks(*[1.0 + (apart if index % 2 else -apart) for index in range(8)])
    apart = part * TREND * NOISE
    trend.blocks(*[1.0 - apart] * 5, *[1.0 + apart] * HALF)
    for each in (spread, wander, trend):
        assert (each.still(300) is not None) is is_still
    certain = Watched()
    certain.see(1.0, 400, swing=part * CERTAIN * NOISE)
    assert certain.trace.is_restless(300, certain.now_ms) is not is_still


def test_without_readings_nothing_is_restless(watched: Watched) -> None:
    assert not watched.trace.is_restless(300, 0)


def test_what_wanders_from_block_to_block_is_not_still(watched: Watched) -> None:
    watched.blocks(*[1.0 + (0.9 * NOISE if index % 2 else -0.9 * NOISE) for index in range(12)])
    assert watched.still(300) is None
    calm = Watched()
    calm.blocks(*[1.0 + (0.3 * NOISE if index % 2 else -0.3 * NOISE) for index in range(12)])
    assert calm.still(300) is not None


def test_what_moves_slowly_one_way_is_not_still(watched: Watched) -> None:
    watched.blocks(*[1.0 + index * 0.36 * NOISE for index in range(8)])
    assert watched.still(350) is None
    still = Watched()
    still.blocks(*[1.0 + index * 0.05 * NOISE for index in range(8)])
    assert still.still(350) is not None


def test_what_moved_before_the_time_asked_for_does_not_count(watched: Watched) -> None:
    watched.see(3.0, 200)
    watched.see(1.0, 400)
    assert watched.still(300) == pytest.approx(1.0)
    assert watched.still(500) is None


# -- since when ----------------------------------------------------------------------------------


def test_it_rests_since_it_last_came_to_its_level(watched: Watched) -> None:
    """Catches: earlier blocks at the same level counted in, across what lay between."""
    watched.blocks(1.0, 1.0, 5.0, 1.0, 1.0, 1.0)
    assert watched.trace.rests_since_ms(1.0, watched.now_ms) == 3 * BLOCK
    assert watched.trace.rests_since_ms(2.0, watched.now_ms) == watched.now_ms


def test_near_its_level_is_at_its_level(watched: Watched) -> None:
    near = tuning.RESTING_NOISES * NOISE + tuning.RESTING_CHIPS
    watched.blocks(1.0 + near + 0.001, 1.0 + near - 0.001, 1.0)
    assert watched.trace.rests_since_ms(1.0, watched.now_ms) == BLOCK


def test_a_trace_without_an_open_block_can_be_asked() -> None:
    assert Trace(NOISE).rests_since_ms(1.0, 77) == 77


# -- what left -----------------------------------------------------------------------------------


def fell(watched: Watched, still_ms: int = 300, before_ms: int = 500, by: float = 0.2) -> bool:
    return watched.trace.fell_to(1.0, by, still_ms, before_ms, watched.now_ms)


def test_a_hand_that_left_just_before_the_rest_is_seen(watched: Watched) -> None:
    watched.blocks(0.0, 5.0, 5.0)
    watched.see(1.0, 350)
    assert fell(watched)


def test_a_hand_within_one_block_is_seen_by_its_highest_reading(watched: Watched) -> None:
    watched.blocks(0.0)
    watched.see(1.25, EVERY_MS)
    watched.see(1.0, 340)
    assert fell(watched)
    assert not fell(watched, by=0.3)


def test_without_anything_higher_nothing_left(watched: Watched) -> None:
    watched.see(1.0, 700)
    assert not fell(watched)


def test_what_left_too_long_ago_did_not_leave_this_behind(watched: Watched) -> None:
    watched.blocks(5.0, 5.0)
    watched.see(1.0, 800)
    assert fell(watched, before_ms=550)
    assert not fell(watched, before_ms=300)


def test_what_only_sways_through_its_level_was_not_left_there(watched: Watched) -> None:
    for _ in range(tuning.CROSSINGS_MAX):
        watched.blocks(1.0, 5.0)
    watched.see(1.0, 350)
    assert fell(watched)
    swaying = Watched()
    for _ in range(tuning.CROSSINGS_MAX + 1):
        swaying.blocks(1.0, 5.0)
    swaying.see(1.0, 350)
    assert not fell(swaying)


# -- what rose -----------------------------------------------------------------------------------


def rising(step: float, count: int = 18) -> Watched:
    watched = Watched()
    watched.blocks(*[1.0 + index * step for index in range(count)], 9.0)
    return watched


def test_liquid_climbs_in_every_block() -> None:
    slow = rising(0.06 / 17 + 0.0001)
    assert slow.trace.rose_slowly(18, 0.06)
    assert not rising(0.06 / 17 - 0.0001).trace.rose_slowly(18, 0.06)
    assert not rising(0.01, count=17).trace.rose_slowly(18, 0.06)


def test_what_steps_or_falls_back_is_no_liquid() -> None:
    stepped = Watched()
    stepped.blocks(*[1.0] * 9, *[1.2] * 9, 9.0)
    assert not stepped.trace.rose_slowly(18, 0.06)
    back = Watched()
    back.blocks(
        *[1.0 + index * 0.02 for index in range(9)], 1.1, *[1.2 + 0.02 * i for i in range(8)]
    )
    back.blocks(9.0)
    assert not back.trace.rose_slowly(18, 0.06)


def test_a_block_clearly_beside_the_one_before_has_moved(watched: Watched) -> None:
    limit = tuning.MOVED_NOISES * NOISE + tuning.MOVED_CHIPS
    watched.blocks(1.0)
    assert watched.trace.moved(), "nobody can tell yet"
    watched.blocks(1.0 + limit - 0.001, 0.0)
    assert not watched.trace.moved()
    other = Watched()
    other.blocks(1.0, 1.0 - limit - 0.001, 0.0)
    assert other.trace.moved()


def test_only_the_last_two_blocks_say_whether_it_moved(watched: Watched) -> None:
    """Catches: a movement long past told again, or the present one missed beside older blocks."""
    watched.blocks(1.0, 5.0, 5.0, 5.0, 0.0)  # the last one is still open
    assert not watched.trace.moved()
    watched.blocks(5.0)
    assert watched.trace.moved()


# -- at the limits themselves --------------------------------------------------------------------


def of_blocks(*means: float, noise: float = 0.0) -> Trace:
    """One reading a block, so that each mean is exact; the last one is still open."""
    trace = Trace(noise)
    for index, mean in enumerate(means):
        trace.add(mean, index * BLOCK)
    return trace


def test_a_pad_without_any_noise_can_be_still() -> None:
    """Catches: "more than the noise" turned into "as much as the noise"."""
    quiet = Trace(0.0)
    for now_ms in range(0, 400, EVERY_MS):
        quiet.add(0.5, now_ms)
    assert quiet.mean_if_still(300, 390) == 0.5
    assert not quiet.is_restless(300, 390)
    assert not of_blocks(0.0, tuning.MOVED_CHIPS, 0.0).moved()


def test_as_near_as_rest_allows_is_at_rest() -> None:
    trace = of_blocks(0.5, tuning.RESTING_CHIPS, 0.0)
    assert trace.rests_since_ms(0.0, 2 * BLOCK) == BLOCK


def test_as_much_higher_as_asked_for_is_enough() -> None:
    trace = of_blocks(0.0, 1.25, 1.0, 1.0, 1.0)
    assert trace.fell_to(1.0, 0.25, BLOCK, 2 * BLOCK, 5 * BLOCK)
    assert not trace.fell_to(1.0, 0.26, BLOCK, 2 * BLOCK, 5 * BLOCK)


def test_it_may_have_left_as_long_ago_as_asked_for() -> None:
    trace = of_blocks(5.0, 1.0, 1.0, 1.0)
    assert trace.fell_to(1.0, 0.25, BLOCK, 2 * BLOCK, 4 * BLOCK)
    assert not trace.fell_to(1.0, 0.25, BLOCK, 2 * BLOCK, 4 * BLOCK + 1)


@pytest.mark.parametrize(
    ("before", "left"),
    [(tuning.SAME_LEVEL_CHIPS, True), (tuning.SAME_LEVEL_CHIPS - 0.01, False)],
)
def test_what_was_at_its_level_for_long_before_it_went_higher_sways(
    before: float, left: bool
) -> None:
    was_there = [before] * (tuning.CROSSINGS_MAX + 1)
    trace = of_blocks(*was_there, 5.0, 0.0, 0.0)
    assert trace.fell_to(0.0, 0.25, BLOCK, 10 * BLOCK, len(was_there) * BLOCK + 2 * BLOCK) is left


def test_the_slowest_and_the_steepest_climb_of_liquid() -> None:
    assert of_blocks(0.0, 0.25, 0.5, 9.0).rose_slowly(3, 0.5), "half of it in each of two blocks"
    assert not of_blocks(0.0, 0.25, 0.5, 9.0).rose_slowly(3, 0.51)
    assert not of_blocks(0.0, 0.5, 0.5, 0.5, 9.0).rose_slowly(4, 0.5), "all of it in the first"
    noisy = of_blocks(0.0, 0.25, 0.0, 0.375, 0.75, 9.0, noise=0.125)
    assert noisy.rose_slowly(5, 0.5), "it may fall back by its slack"
    steep = of_blocks(0.0, 0.26, 0.5, 9.0, noise=0.01)
    assert steep.rose_slowly(3, 0.5), "and climb by as much more"
