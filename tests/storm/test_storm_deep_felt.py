"""A deep storm leaves out reads that cannot say anything new, and no other.

The shipped felt and that of the storm live through the same acts at the same moments. What their
spots say, and when, must agree: a `StillSensor` that never forgets would miss every chip, one that
overlooks the bus every fault.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from controller.core.felt.spot import ABSENT, FAULT, PRESENT
from controller.felt.table_felt import TableFelt
from sim.floor.world import World
from sim.runs.storm.floor.deep_felt import DeepFelt
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.loop import StormLoop
from sim.runs.storm.floor.table import StormTable
from sim.runs.storm.options import DEEP
from sim.runs.storm.record import Record
from sim.runs.storm.run import _close

# A seed whose third table has FDC1004s behind a multiplexer; the first has MPR121s.
SEED, TABLES = "deep-felt-3", 3
KINDS = {"mpr121": 0, "fdc1004": 2}
# The other felt's transfers keep the bus busy: a look may come so much later.
APART_MAX_MS = 30

Story = Callable[[StormTable, list[tuple[int, str]]], Awaitable[None]]


def live(kind: str, is_shipped: bool, story: Story) -> tuple[list[tuple[int, str]], int]:
    """What happened to the spots, by its virtual millisecond; and the transfers it took."""
    seen: list[tuple[int, str]] = []
    transfers = 0

    async def play() -> None:
        nonlocal transfers
        floor = StormFloor(TABLES, SEED, Record(), DEEP)
        table = floor.tables[KINDS[kind]]
        felt = TableFelt if is_shipped else partial(DeepFelt, table.world)
        table.unit.open_felt = felt
        try:
            await table.install()
            await table.power_on()
            await asyncio.sleep(3)
            before = _transfers(table.world)
            await story(table, seen)
            transfers = _transfers(table.world) - before
        finally:
            await floor.close()

    loop = StormLoop()
    try:
        loop.run_until_complete(play())
    finally:
        _close(loop)
    return seen, transfers


def _transfers(world: World) -> int:
    return sum(bus.transfer_count for bus in world.buses.values())


async def until(table: StormTable, sensor: str, presence: str, seen: list[tuple[int, str]]) -> None:
    began_ns = table.world.now_ns()
    assert table.controller is not None
    for _ in range(5000):
        if table.controller.felt.spots[sensor].presence == presence:
            seen.append(((table.world.now_ns() - began_ns) // 1_000_000, presence))
            return
        await asyncio.sleep(0.001)
    pytest.fail(f"{sensor} never became {presence}")


async def chips_come_and_go(table: StormTable, seen: list[tuple[int, str]]) -> None:
    for sensor in table.sensors[:2]:
        table.place(sensor)
        await until(table, sensor, PRESENT, seen)
        await asyncio.sleep(1.2345)
        table.remove(sensor)
        await until(table, sensor, ABSENT, seen)
        await asyncio.sleep(0.777)


async def an_ic_is_lost(table: StormTable, seen: list[tuple[int, str]]) -> None:
    sensor = table.sensors[0]
    ic = next(place.ic for place in table.world.board.sensors if place.id == sensor)
    table.world.faults.nack(ic)
    await until(table, sensor, FAULT, seen)
    table.world.faults.clear_bus(table.world.board.ic(ic).bus)
    await until(table, sensor, ABSENT, seen)
    table.world.faults.reset_ic(ic)
    await until(table, sensor, FAULT, seen)


async def nothing_happens(table: StormTable, seen: list[tuple[int, str]]) -> None:
    await asyncio.sleep(5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("story", [chips_come_and_go, an_ic_is_lost])
def test_spots_say_the_same_as_those_of_the_shipped_felt(kind: str, story: Story) -> None:
    shipped, _ = live(kind, True, story)
    ours, _ = live(kind, False, story)
    assert [word for _, word in ours] == [word for _, word in shipped]
    # An idle MPR121 is asked twice a second, so its reset may be found half a second later.
    slack_ms = 500 if story is an_ic_is_lost else APART_MAX_MS
    for (ours_ms, word), (shipped_ms, _) in zip(ours, shipped, strict=True):
        assert abs(ours_ms - shipped_ms) <= slack_ms, word


def test_a_converter_that_has_nothing_new_is_not_asked() -> None:
    """Mutation: a `StillSensor` that is never still."""
    _, shipped = live("fdc1004", True, nothing_happens)
    _, ours = live("fdc1004", False, nothing_happens)
    assert ours * 10 < shipped
