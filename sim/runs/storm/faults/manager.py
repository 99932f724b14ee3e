"""What happens to a manager: killed at once, at any await, inside its disk, after a commit."""

from __future__ import annotations

import asyncio
import random

from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.unit_view import Event
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.manager import StormManager
from sim.runs.storm.floor.table import StormTable

TURNS_MAX = 400
PLACES_MAX = 6
OPERATIONS_MAX = 60
PATIENCE_S = 30.0
TELLING = (kinds.ROUND_START, kinds.CLAIM, kinds.AWARDED, kinds.COMMIT, kinds.SETTLED)
HOUR_MS = 3_600_000


async def killed(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    table.manager.kill(silent=chance.random() < 0.5)
    await stay_dead(table.manager, chance)


async def killed_at_any_await(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    manager, silent = table.manager, chance.random() < 0.5
    turns, place = chance.randint(1, TURNS_MAX), chance.randint(0, PLACES_MAX)
    floor.loop.strike_after(turns, lambda: manager.kill(silent), place)
    if await manager.goes_down(PATIENCE_S):
        await stay_dead(manager, chance)


async def killed_inside_the_disk(
    floor: StormFloor, table: StormTable, chance: random.Random
) -> None:
    manager = table.manager
    manager.disk.cut_after(chance.randint(1, OPERATIONS_MAX))
    if await manager.goes_down(PATIENCE_S):
        await stay_dead(manager, chance)
    manager.disk.cancel_cut()


async def killed_after_an_event(
    floor: StormFloor, table: StormTable, chance: random.Random
) -> None:
    """The next commit of a drawn kind, and then a few turns: before or after the receipt left."""
    manager, kind, silent = table.manager, chance.choice(TELLING), chance.random() < 0.5
    turns, place = chance.choice((0, 0, 1, 2, 4, 12)), chance.randint(0, PLACES_MAX)

    def ambush(_manager: StormManager, _unit_id: str, event: Event) -> None:
        if event.kind == kind:
            manager.listeners.remove(ambush)
            floor.loop.strike_after(turns, lambda: manager.kill(silent), place)

    manager.listeners.append(ambush)
    if await manager.goes_down(PATIENCE_S * 3):
        await stay_dead(manager, chance)
    if ambush in manager.listeners:
        manager.listeners.remove(ambush)


async def disk_fails(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """A sync that fails: the manager must stop taking anything, and starts anew on another day."""
    manager = table.manager
    manager.disk.failing.add("sync")
    await asyncio.sleep(chance.uniform(1, 15))
    manager.disk.failing.discard("sync")
    if manager.must_start_anew:
        manager.kill(silent=False)
        await stay_dead(manager, chance)


async def clock_jumps(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    table.manager.clock.jump(chance.choice((-1, 1)) * chance.randint(1, 48 * HOUR_MS))


async def stay_dead(manager: StormManager, chance: random.Random) -> None:
    while not manager.running:
        await asyncio.sleep(chance.choice((0.01, 0.5, 3.0, 12.0)) * chance.random())
        await manager.restart()
