"""What happens to a manager: killed at once, at any await, inside its disk, after a commit."""

from __future__ import annotations

import asyncio
import random

from sim.storm.checks import kinds
from sim.storm.checks.ledger_watch import Event
from sim.storm.floor import StormFloor
from sim.storm.office import StormOffice
from sim.storm.table import StormTable

TURNS_MAX = 400
PLACES_MAX = 6
OPERATIONS_MAX = 60
PATIENCE_S = 30.0
TELLING = (kinds.ROUND_START, kinds.CLAIM, kinds.AWARDED, kinds.COMMIT, kinds.SETTLED)
HOUR_MS = 3_600_000


async def killed(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    table.office.kill(silent=chance.random() < 0.5)
    await stay_dead(table.office, chance)


async def killed_at_any_await(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    office, silent = table.office, chance.random() < 0.5
    turns, place = chance.randint(1, TURNS_MAX), chance.randint(0, PLACES_MAX)
    floor.loop.strike_after(turns, lambda: office.kill(silent), place)
    if await office.goes_down(PATIENCE_S):
        await stay_dead(office, chance)


async def killed_inside_the_disk(
    floor: StormFloor, table: StormTable, chance: random.Random
) -> None:
    office = table.office
    office.disk.cut_after(chance.randint(1, OPERATIONS_MAX))
    if await office.goes_down(PATIENCE_S):
        await stay_dead(office, chance)
    office.disk.cancel_cut()


async def killed_after_an_event(
    floor: StormFloor, table: StormTable, chance: random.Random
) -> None:
    """The next commit of a drawn kind, and then a few turns: before or after the receipt left."""
    office, kind, silent = table.office, chance.choice(TELLING), chance.random() < 0.5
    turns, place = chance.choice((0, 0, 1, 2, 4, 12)), chance.randint(0, PLACES_MAX)

    def ambush(_office: StormOffice, _unit_id: str, event: Event) -> None:
        if event.kind == kind:
            office.listeners.remove(ambush)
            floor.loop.strike_after(turns, lambda: office.kill(silent), place)

    office.listeners.append(ambush)
    if await office.goes_down(PATIENCE_S * 3):
        await stay_dead(office, chance)
    if ambush in office.listeners:
        office.listeners.remove(ambush)


async def disk_fails(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """A sync that fails: the manager must stop taking anything, and starts anew on another day."""
    office = table.office
    office.disk.failing.add("sync")
    await asyncio.sleep(chance.uniform(1, 15))
    office.disk.failing.discard("sync")
    if office.halted:
        office.kill(silent=False)
        await stay_dead(office, chance)


async def clock_jumps(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    table.office.clock.jump(chance.choice((-1, 1)) * chance.randint(1, 48 * HOUR_MS))


async def stay_dead(office: StormOffice, chance: random.Random) -> None:
    while not office.running:
        await asyncio.sleep(chance.choice((0.01, 0.5, 3.0, 12.0)) * chance.random())
        await office.restart()
