"""Deals faults to the tables and managers of a floor, one after another, as the seed says.

It alone decides when something goes wrong and where. What a fault does is in its own module; each
ends by itself or when the storm is called off, and healing what is left is done elsewhere.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from sim.storm import faults_card, faults_hardware, faults_link, faults_office, faults_power
from sim.storm.deck import KINDS, Deck
from sim.storm.floor import StormFloor
from sim.storm.options import StormOptions
from sim.storm.table import StormTable

Fault = Callable[[StormFloor, StormTable, random.Random], Awaitable[None]]

FAULTS: dict[str, Fault] = {
    "power cut": faults_power.cut_now,
    "power cut at any await": faults_power.cut_at_any_await,
    "power cut inside the disk": faults_power.cut_inside_the_disk,
    "power cut after an event": faults_power.cut_after_an_event,
    "power cut while booting": faults_power.cut_while_booting,
    "card fails": faults_card.card_fails,
    "card stalls": faults_card.card_stalls,
    "card copied": faults_card.card_copied,
    "clock jumps": faults_hardware.clock_jumps,
    "link cut": faults_link.cut,
    "link flaps": faults_link.flaps,
    "link slow": faults_link.slow,
    "link one way": faults_link.one_way,
    "connection reset": faults_link.reset,
    "connection overtaken": faults_link.overtaken,
    "manager killed": faults_office.killed,
    "manager killed at any await": faults_office.killed_at_any_await,
    "manager killed inside the disk": faults_office.killed_inside_the_disk,
    "manager killed after an event": faults_office.killed_after_an_event,
    "manager disk fails": faults_office.disk_fails,
    "manager clock jumps": faults_office.clock_jumps,
    "bus fault": faults_hardware.bus_fault,
    "electrode breaks": faults_hardware.electrode_breaks,
    "cabinet opened": faults_hardware.cabinet_opened,
    "liquid spilled": faults_hardware.liquid_spilled,
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
