"""Deals faults to the tables and managers of a floor, one after another, as the seed says.

It alone decides when something goes wrong and where. What a fault does is in its own module; each
ends by itself or when the storm is called off, and healing what is left is done elsewhere.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from sim.runs.storm.faults import disk, hardware, ledger, link, manager, operators, power
from sim.runs.storm.faults.deck import KINDS, Deck
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.table import StormTable
from sim.runs.storm.options import StormOptions

Fault = Callable[[StormFloor, StormTable, random.Random], Awaitable[None]]

FAULTS: dict[str, Fault] = {
    "power cut": power.cut_now,
    "power cut at any await": power.cut_at_any_await,
    "power cut inside the disk": power.cut_inside_the_disk,
    "power cut after an event": power.cut_after_an_event,
    "power cut while booting": power.cut_while_booting,
    "disk fails": disk.fails,
    "disk stalls": disk.stalls,
    "disk copied": disk.copied,
    "clock jumps": hardware.clock_jumps,
    "link cut": link.cut,
    "link flaps": link.flaps,
    "link slow": link.slow,
    "link one way": link.one_way,
    "connection reset": link.reset,
    "connection overtaken": link.overtaken,
    "manager killed": manager.killed,
    "manager killed at any await": manager.killed_at_any_await,
    "manager killed inside the disk": manager.killed_inside_the_disk,
    "manager killed after an event": manager.killed_after_an_event,
    "manager disk fails": manager.disk_fails,
    "manager clock jumps": manager.clock_jumps,
    "bus fault": hardware.bus_fault,
    "electrode breaks": hardware.electrode_breaks,
    "cabinet opened": hardware.cabinet_opened,
    "liquid spilled": hardware.liquid_spilled,
    "manager lease lost": ledger.lease_lost,
    "manager commits late": ledger.commits_late,
    "manager commit unknown": ledger.answers_lost,
    "operator adjusts": operators.adjusts,
    "operator sets a limit": operators.sets_a_limit,
    "operator stops play": operators.stops_play,
}
assert tuple(FAULTS) == KINDS


class Mischief:
    def __init__(self, floor: StormFloor, options: StormOptions) -> None:
        self._floor = floor
        self._every_s = options.fault_every_s / max(1, options.tables)
        self._chance = random.Random(f"mischief {options.seed}")
        self._deck = Deck(options.weights, self._chance)
        self._dealer: asyncio.Task[None] | None = None
        self._running: dict[asyncio.Task[None], None] = {}

    def start(self) -> None:
        if not self._deck.is_empty:
            self._dealer = asyncio.create_task(self._deal(), name="mischief")

    async def stop(self) -> None:
        """No new fault; those under way end where they stand."""
        tasks = [*self._running, *([self._dealer] if self._dealer else [])]
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
        self._dealer = None

    async def _deal(self) -> None:
        while True:
            await asyncio.sleep(self._chance.expovariate(1 / self._every_s))
            kind = self._deck.deal()
            tables = [table for table in self._floor.tables if not table.retired]
            if tables:
                self._strike(kind, self._chance.choice(tables))

    def _strike(self, kind: str, table: StormTable) -> None:
        chance = random.Random(self._chance.randrange(1 << 62))
        self._floor.record.fault(kind, table.name)
        fault = FAULTS[kind](self._floor, table, chance)
        task = asyncio.create_task(_run(fault), name=kind)
        self._running[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            del self._running[task]  # one that failed is kept for `stop` to raise


async def _run(fault: Awaitable[None]) -> None:
    await fault
