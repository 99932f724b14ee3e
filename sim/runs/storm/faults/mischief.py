"""Deals faults to the tables and managers of a floor, one after another, as the seed says.

It alone decides when something goes wrong and where. What a fault does is in its own module; each
ends by itself or when the storm is called off, and healing what is left is done elsewhere.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

from sim.runs.storm.faults import (
    damage,
    disk,
    games,
    hardware,
    ledger,
    link,
    manager,
    operators,
    power,
)
from sim.runs.storm.faults.deck import ACT_KINDS, FAULT_KINDS, KINDS, Deck
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
    "operator voids a game": games.voids_a_game,
    "operator reverses a win": games.reverses_a_win,
    "operator backs a win out": games.backs_a_win_out,
    "journal damaged": damage.journal_damaged,
    "operator records a win again": games.records_a_win_again,
}
assert tuple(FAULTS) == KINDS


class Stream:
    """One deck, and how often a card of it is dealt."""

    def __init__(
        self, name: str, kinds: Sequence[str], every_s: float, storm: StormOptions
    ) -> None:
        self.every_s = every_s / max(1, storm.tables)
        self.chance = random.Random(f"{name} {storm.seed}")
        weights = {kind: count for kind, count in storm.weights.items() if kind in kinds}
        self.deck = Deck(weights, self.chance)


class Mischief:
    def __init__(self, floor: StormFloor, options: StormOptions) -> None:
        self._floor = floor
        self._streams = (
            Stream("mischief", FAULT_KINDS, options.fault_every_s, options),
            Stream("acts at the manager", ACT_KINDS, options.act_every_s, options),
        )
        self._dealers: list[asyncio.Task[None]] = []
        self._running: dict[asyncio.Task[None], None] = {}

    def start(self) -> None:
        self._dealers = [
            asyncio.create_task(self._deal(stream), name="mischief")
            for stream in self._streams
            if not stream.deck.is_empty
        ]

    async def stop(self) -> None:
        """No new fault; those under way end where they stand."""
        tasks = [*self._running, *self._dealers]
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
        self._dealers = []

    async def _deal(self, stream: Stream) -> None:
        while True:
            await asyncio.sleep(stream.chance.expovariate(1 / stream.every_s))
            kind = stream.deck.deal()
            tables = [table for table in self._floor.tables if not table.retired]
            if tables:
                self._strike(kind, stream.chance.choice(tables), stream.chance)

    def _strike(self, kind: str, table: StormTable, drawn: random.Random) -> None:
        chance = random.Random(drawn.randrange(1 << 62))
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
