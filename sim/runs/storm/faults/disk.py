"""What happens to a unit's disk: it fails, or someone copies it and boots a second unit from it."""

from __future__ import annotations

import asyncio
import random

from sim.runs.storm.faults.power import stay_dark
from sim.runs.storm.floor.clones import Clone
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.table import StormTable


async def fails(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """The unit must show that it cannot record; a power cycle with a good disk brings it back."""
    disk = table.disk
    kind = chance.choice(("sync", "write", "read-only", "full"))
    if kind == "read-only":
        disk.read_only = True
    elif kind == "full":
        disk.size_max_bytes = 0
    else:
        disk.failing.add("sync" if kind == "sync" else "write")
    try:
        await asyncio.sleep(chance.uniform(0.5, 20))
    finally:
        disk.read_only, disk.size_max_bytes = False, None
        disk.failing.clear()
    table.cut_power()
    await stay_dark(table, chance)


async def stalls(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """A disk that tidies up: every job takes up to a second, and a link may break meanwhile."""
    pace = table.unit.pace
    pace.stalls = True
    table.watch.hurt(40_000)  # what waits for the disk waits longer than a table needs to rest
    try:
        await asyncio.sleep(chance.uniform(2, 10))
        for connection in table.manager.network.connections(table.cable):
            connection.reset("unit")
        await asyncio.sleep(chance.uniform(2, 10))
    finally:
        pace.stalls = False


async def copied(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    if table.journal.awaits_state or any(clone.original is table for clone in floor.clones):
        return
    # An older copy is turned away at its hello; a twin is found out at the first event that
    # differs, and then the original may be the one that no longer fits.
    spare = sum(other.retired for other in floor.tables) * 3 < len(floor.tables)
    waits_s = 0.0 if spare and chance.random() < 0.5 else chance.uniform(5, 40)
    table.cut_power()
    clone = Clone(floor, table, chance)
    floor.clones.append(clone)
    await stay_dark(table, chance)
    await asyncio.sleep(waits_s)
    await clone.power_on()
    while not clone.caught:  # noqa: ASYNC110 - a person looks now and then
        await asyncio.sleep(1.0)
    await asyncio.sleep(chance.uniform(0.1, 5))
    await clone.resolve()
