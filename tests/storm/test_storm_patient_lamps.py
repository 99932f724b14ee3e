"""The lamps of a storm leave out frames that nobody can look at, and no other.

Catches: a player that begins too late before a look (its lights are not conclusive), and one that
passes over the moment at which a light is brightest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from controller.core import lights
from controller.lights.lamp_player import LampPlayer
from controller.unit import LampPlayerOpener
from sim.floor.light_eye import FADES, PATTERNS
from sim.runs.storm.checks.table_watch import REST_MS
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.loop import StormLoop
from sim.runs.storm.floor.patient_lamps import _next_peak_ms, patient_player
from sim.runs.storm.floor.table import StormTable
from sim.runs.storm.options import WIDE
from sim.runs.storm.record import Record
from sim.runs.storm.run import _close

Story = Callable[[StormTable], Awaitable[None]]


def live(story: Story, player: LampPlayerOpener | None = None) -> None:
    async def play() -> None:
        floor = StormFloor(1, "patient-lamps", Record(), WIDE)
        [table] = floor.tables
        table.unit.play_lamps = player or patient_player(table.watch.look_in_ms)
        try:
            await table.install()
            await table.power_on()
            await asyncio.sleep(3)
            await story(table)
        finally:
            await floor.close()

    loop = StormLoop()
    try:
        loop.run_until_complete(play())
    finally:
        _close(loop)


def test_whoever_looks_has_seen_every_frame() -> None:
    async def story(table: StormTable) -> None:
        table.place("1A")
        table.place("2A")
        table.watch.expect_look(REST_MS)
        await asyncio.sleep(REST_MS / 1000)
        assert [table.world.light(each) for each in table.sensors[:3]] == ["detected"] * 2 + ["off"]
        await asyncio.sleep(REST_MS / 1000)
        assert table.world.light("1A") == "settling", "nobody had said that he would look"

    live(story)


@pytest.mark.parametrize("is_patient", [True, False])
def test_nobody_is_shown_no_frames(is_patient: bool) -> None:
    writes = 0

    async def story(table: StormTable) -> None:
        nonlocal writes
        before = sum(bus.transfer_count for bus in table.world.buses.values())
        for _ in range(10):
            for act in (table.place, table.remove):
                act("1A")
                table.place("2A")  # its fade goes on
                await asyncio.sleep(0.5)
        writes = sum(bus.transfer_count for bus in table.world.buses.values()) - before

    live(story, None if is_patient else LampPlayer)
    assert writes < 100 if is_patient else writes > 100


@pytest.mark.parametrize("light", [*FADES, *(name for name in PATTERNS if len(PATTERNS[name]) > 1)])
def test_a_light_is_written_when_it_is_brightest(light: str) -> None:
    brightest = max(sum(lights.levels_at(light, at_ms)) for at_ms in range(2000))
    for now_ms in range(0, 2500, 7):
        wait_ms = _next_peak_ms(light, now_ms)
        assert 0 < wait_ms <= 2000
        assert sum(lights.levels_at(light, now_ms + wait_ms)) == brightest
