"""Power cuts: at once, between any two awaits, inside the disk, right after an event, at boot."""

from __future__ import annotations

import asyncio
import random

from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.journal_watch import Row
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.table import StormTable

TURNS_MAX = 600
PLACES_MAX = 6
OPERATIONS_MAX = 40
PATIENCE_S = 25.0
AMBUSH_PATIENCE_S = 90.0
TELLING = (
    kinds.BOOT,
    kinds.ROUND_START,
    kinds.LATE_CHANGE,
    kinds.HAND,
    kinds.CLAIM,
    kinds.CLAIM,
    kinds.AWARDED,
    kinds.AWARDED,
    kinds.COMMIT,
    kinds.COMMIT,
    kinds.SETTLED,
    kinds.PAID,
    kinds.ROUND_END,
    kinds.VOIDED,
)


async def cut_now(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    table.cut_power()
    await stay_dark(table, chance)


async def cut_at_any_await(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    turns, place = chance.randint(1, TURNS_MAX), chance.randint(0, PLACES_MAX)
    floor.loop.strike_after(turns, table.cut_power, place)
    if await table.goes_dark(PATIENCE_S):
        await stay_dark(table, chance)


async def cut_inside_the_disk(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    table.disk.cut_after(chance.randint(1, OPERATIONS_MAX))
    if await table.goes_dark(PATIENCE_S):
        await stay_dark(table, chance)
    table.disk.cancel_cut()


async def cut_after_an_event(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """The next record of a drawn kind, and then a few turns of the loop."""
    kind, turns = chance.choice(TELLING), chance.choice((0, 1, 3, 10, 40, 120))
    turns, place = chance.randint(0, turns), chance.randint(0, PLACES_MAX)

    def ambush(row: Row) -> None:
        if row.kind == kind:
            table.watch.listeners.remove(ambush)
            floor.loop.strike_after(turns, table.cut_power, place)

    table.watch.listeners.append(ambush)
    if await table.goes_dark(AMBUSH_PATIENCE_S):
        await stay_dark(table, chance)
    if ambush in table.watch.listeners:
        table.watch.listeners.remove(ambush)


async def cut_while_booting(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    table.cut_power()
    for _ in range(chance.randint(1, 3)):
        await asyncio.sleep(chance.uniform(0.05, 2))
        if chance.random() < 0.5:
            table.disk.cut_after(chance.randint(1, OPERATIONS_MAX))
        else:
            floor.loop.strike_after(chance.randint(1, 120), table.cut_power, 0)
        await table.power_on()
        await table.goes_dark(5.0)
    await stay_dark(table, chance)


async def stay_dark(table: StormTable, chance: random.Random) -> None:
    """Someone finds the plug, sooner or later."""
    while not table.unit.alive and not table.retired:
        await asyncio.sleep(chance.choice((0.05, 0.5, 3.0, 15.0)) * chance.random())
        await table.power_on()
