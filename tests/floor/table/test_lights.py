"""What the lamp ICs of a whole table are told over time: by day, at night, in a fade."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from controller.config import UnitConfig, parse_unit_config
from controller.core import lights
from controller.night import LightsSection
from hal import aio
from sim.floor import floor as floors
from sim.floor.floor import Floor, FloorTable
from sim.floor.light_eye import AMBER, WHITE
from sim.time.loop import run_virtual

NIGHT = LightsSection(night_percent=40, night_from="00:00", night_until="23:59")
NOON_ONLY = dataclasses.replace(NIGHT, night_from="11:00", night_until="11:01")


def with_lights(section: LightsSection) -> Callable[[str], UnitConfig]:
    return lambda text: dataclasses.replace(parse_unit_config(text), lights=section)


async def opened(floor: Floor) -> FloorTable:
    table = await floor.open_table("four-card-touch")
    await aio.sleep_ms(2000)
    table.place("3A")
    await aio.sleep_ms(2000)
    return table


def play(act: Callable[[FloorTable], Awaitable[None]]) -> None:
    async def run() -> None:
        floor = Floor(1)
        try:
            await act(await opened(floor))
        finally:
            await floor.close()

    run_virtual(run())


async def whites(table: FloorTable, sensor: str, every_ms: int, count: int) -> list[float]:
    levels = []
    for _ in range(count):
        levels.append(table.world.level_now(sensor, WHITE))
        await aio.sleep_ms(every_ms)
    return levels


def test_a_detected_chip_breathes_between_5_and_15_percent() -> None:
    """Catches: a fade whose frames are not written, or not by the clock."""

    async def act(table: FloorTable) -> None:
        levels = await whites(table, "3A", 50, 80)
        assert 0.04 < min(levels) < 0.06
        assert 0.14 < max(levels) < 0.16
        assert len(set(levels)) >= 11
        steps = [abs(one - other) for one, other in pairwise(levels)]
        assert max(steps) < 0.015

    play(act)


def test_a_fade_is_where_the_clock_says_after_the_lamps_were_out_of_reach() -> None:
    """Catches: a fade that counts its steps: it would go on where it stood."""

    async def act(table: FloorTable) -> None:
        table.world.faults.nack("lights-1")
        await aio.sleep_ms(700)
        table.world.faults.clear_bus(1)
        await aio.sleep_ms(1500)
        assert await table.world.settled_light("3A") == "detected"
        white, _ = lights.levels_at("detected", aio.ticks_ms())
        assert table.world.level_now("3A", WHITE) == pytest.approx(white / 4096, abs=0.011)

    play(act)


def test_at_night_a_bet_is_dimmed_and_what_must_be_noticed_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(floors, "parse_unit_config", with_lights(NIGHT))

    async def act(table: FloorTable) -> None:
        table.world.lamps.night_part = 0.4
        assert await table.world.settled_light("3A") == "detected"
        table.place("5A")
        await aio.sleep_ms(25)  # seen by now, and refused: it is still coming to rest
        await table.press("START")
        await aio.sleep_ms(1200)
        assert table.world.level_now("3A", WHITE) == pytest.approx(0.4, abs=0.01)
        assert max(await whites(table, "5A", 25, 40)) == pytest.approx(0.3, abs=0.01)
        assert await table.world.settled_light("3A") == "accepted"
        assert await table.world.settled_light("5A") == "refused"

    play(act)


def test_outside_of_the_night_the_lights_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floors, "parse_unit_config", with_lights(NOON_ONLY))

    async def act(table: FloorTable) -> None:
        await table.press("START")
        await aio.sleep_ms(1200)
        assert table.world.level_now("3A", WHITE) == pytest.approx(1.0, abs=0.01)

    play(act)


def test_a_fault_flashes_at_full_and_is_dark_in_between() -> None:
    async def act(table: FloorTable) -> None:
        table.world.faults.nack("sense-1")
        await aio.sleep_ms(2000)
        ambers = []
        for _ in range(100):
            ambers.append(table.world.level_now("4A", AMBER))
            await aio.sleep_ms(10)
        assert set(ambers) == {0.0, 1.0}
        assert 0.40 <= sum(ambers) / len(ambers) <= 0.50
        assert table.world.light("4A") == "fault"

    play(act)
