"""What happens between a manager and its ledger: a lost lease, late commits, lost answers."""

from __future__ import annotations

import asyncio
import random

from sim.runs.storm.faults.manager import stay_dead
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.process import AFTER, BEFORE
from sim.runs.storm.floor.table import StormTable

RENEWAL_S = 1.0  # an owner that does not write hears of its lost lease by then
LATE_MS = (5.0, 40.0, 400.0, 2500.0)
ANSWERS_MAX = 3
PATIENCE_S = 20.0


async def lease_lost(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """Another manager has it at once, or nobody has until somebody starts the manager again."""
    manager, notices_s = table.manager, chance.uniform(0, RENEWAL_S)
    if chance.random() < 0.6:
        await manager.is_taken_over(notices_s)
        return
    if manager.running:
        await manager.is_fenced(notices_s)
        await stay_dead(manager, chance)


async def commits_late(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """The manager plays on in memory; nothing that rests on it may leave."""
    process, most_ms = table.manager.process, chance.choice(LATE_MS)
    process.write_late(lambda: chance.random() * most_ms)
    try:
        await asyncio.sleep(chance.uniform(2, 25))
    finally:
        process.write_late(lambda: 0.0)


async def answers_lost(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """The line breaks in a commit, before or after it was done, perhaps again in the next try."""
    lost = table.manager.process.answers_lost
    lost.extend(chance.choices((BEFORE, AFTER), k=chance.randint(1, ANSWERS_MAX)))
    await asyncio.sleep(chance.uniform(1, PATIENCE_S))
    lost.clear()
