"""A round's age by ticks, and what is left of it after a power cut."""

from __future__ import annotations

import asyncio

import pytest

from controller.round_clock import RoundClock
from sim.time.loop import run_virtual


def test_age_and_end_are_counted_by_ticks() -> None:
    async def scenario() -> None:
        clock = RoundClock()
        clock.started(1_000)
        await asyncio.sleep(2)
        assert (clock.age_ms(), clock.started_wall_ms) == (2_000, 1_000)
        assert clock.end_age_ms() == -1, "nothing has ended yet"
        clock.ended()
        assert clock.end_age_ms() == 0
        await asyncio.sleep(3)
        assert (clock.age_ms(), clock.end_age_ms()) == (5_000, 3_000)
        clock.started(9_000)
        assert clock.age_ms() == 0

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("wall_ms", "known_ms", "age_ms"),
    [(7_000, [], 6_000), (7_000, [9_500, 200], 9_500), (500, [], 0), (500, [300], 300)],
)
def test_after_a_power_cut_the_age_is_what_the_clock_or_a_record_says(
    wall_ms: int, known_ms: list[int], age_ms: int
) -> None:
    """Catches: a clock that was set back makes the round younger than what was recorded in it."""

    async def scenario() -> None:
        clock = RoundClock()
        clock.started_wall_ms = 1_000
        clock.guess(wall_ms, known_ms)
        assert clock.age_ms() == age_ms
        await asyncio.sleep(1)
        assert clock.age_ms() == age_ms + 1_000

    run_virtual(scenario())
