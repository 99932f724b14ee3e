"""What the network does to one table, within what TCP allows."""

from __future__ import annotations

import asyncio
import random

from sim.network.network import Side
from sim.runs.storm.checks.journal_watch import Row
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.table import StormTable
from sim.runs.storm.floor.weather import DrawnWeather

ANSWER_PATIENCE_S = 60.0
EVENT_PATIENCE_S = 4.0  # a manager lets a silent connection go after five


async def cut(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    if not table.cable.plugged:
        return
    table.cable.pull()
    await asyncio.sleep(chance.choice((0.3, 3.0, 12.0, 40.0)) * chance.random())
    table.cable.plug()


async def flaps(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    if not table.cable.plugged:
        return
    for _ in range(chance.randint(2, 8)):
        table.cable.pull()
        await asyncio.sleep(chance.uniform(0, 0.8))
        table.cable.plug()
        await asyncio.sleep(chance.uniform(0, 0.8))


async def slow(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    weather = table.cable.weather
    assert isinstance(weather, DrawnWeather)
    weather.slow_ms = chance.choice((20.0, 300.0, 2500.0))
    weather.breaks_up = chance.random() < 0.7
    try:
        await asyncio.sleep(chance.uniform(1, 20))
    finally:
        weather.slow_ms, weather.breaks_up = 0.0, False


async def one_way(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """Bytes pass in one direction only: one end believes in a connection that has gone."""
    upward = chance.random() < 0.5
    connections = table.manager.network.connections(table.cable)
    pipes = [each.upward if upward else each.downward for each in connections]
    for pipe in pipes:
        pipe.hold()
    try:
        await asyncio.sleep(chance.uniform(0.2, 12))
    finally:
        for pipe in pipes:
            pipe.release()


async def reset(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    if chance.random() < 0.6 and not await _is_answered(table):
        return
    await asyncio.sleep(chance.choice((0, 0.004, 0.02)) * chance.random())
    drawn: tuple[tuple[Side, ...], ...] = (("unit",), ("manager",), ("unit", "manager"))
    sides = chance.choice(drawn)
    for connection in table.manager.network.connections(table.cable):
        for side in sides:
            connection.reset(side)


async def overtaken(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """Events are still on their way when the unit, told that the connection is gone, calls again.

    They arrive together with the new hello, so the unit is told less than the manager has.
    """
    connections = table.manager.network.connections(table.cable)
    if not connections:
        return
    pipe = connections[-1].upward
    pipe.hold()
    if await _records_something(table):
        await asyncio.sleep(chance.uniform(0.005, 0.1))
    table.cable.delay_until_next_connection(pipe)
    connections[-1].reset("unit")


async def _records_something(table: StormTable) -> bool:
    recorded = asyncio.Event()

    def notice(row: Row) -> None:
        recorded.set()

    table.watch.listeners.append(notice)
    try:
        async with asyncio.timeout(EVENT_PATIENCE_S):
            await recorded.wait()
    except TimeoutError:
        return False
    finally:
        table.watch.listeners.remove(notice)
    return True


async def _is_answered(table: StormTable) -> bool:
    """Waits until the manager sends an award or a receipt, which the unit must then record."""
    answered = asyncio.Event()

    def notice(unit: object) -> None:
        if unit is table:
            answered.set()

    table.manager.wire.listeners.append(notice)
    try:
        async with asyncio.timeout(ANSWER_PATIENCE_S):
            await answered.wait()
    except TimeoutError:
        return False
    finally:
        table.manager.wire.listeners.remove(notice)
    return True
