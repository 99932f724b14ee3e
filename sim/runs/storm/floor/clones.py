"""A second unit that boots from a copy of a unit's disk, and what people do when it is found out.

It alone knows how a copied disk is dealt with: the copy is taken away; if the ledger still follows
the original's journal, an operator releases the unit, else the original waits for a technician.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING

from manager.ledger.corrections.reasons import Signed
from manager.ledger.engines.engine import StorageFailed
from sim.network.network import Cable
from sim.runs.storm import marks
from sim.runs.storm.floor.table import StormTable
from sim.runs.storm.floor.weather import DrawnWeather

if TYPE_CHECKING:
    from sim.runs.storm.floor.floor import StormFloor

RELEASE_TRIES_MAX = 120
REASON = "The copied disk was taken away."
PEOPLE = Signed("Pat", "Kim")


class Clone:
    def __init__(self, floor: StormFloor, original: StormTable, chance: random.Random) -> None:
        """Copies the disk as it is now; the original has no power."""
        self._floor = floor
        self.original = original
        self.resolved = False
        self._leaving: asyncio.Task[None] | None = None
        self._releasing: asyncio.Task[None] | None = None
        seed = f"clone {chance.randrange(1 << 62)}"
        cable = Cable(DrawnWeather(random.Random(f"{seed}/weather")))
        self.table = StormTable(
            original.plan,
            original.manager,
            original.record,
            seed,
            cable,
            original.depth,
            original,
        )
        self.table.slot.insert(original.disk.clone(random.Random(f"{seed}/card")))
        original.journal.copy_to(self.table.journal)

    async def power_on(self) -> None:
        """A tech installs the copy. Until then nobody can hear it, and it excuses nothing."""
        await self.table.install()
        self.original.manager.tables.append(self.table)
        await self.table.power_on()

    @property
    def had_power(self) -> bool:
        return self.table.journal.boot_count > 0

    @property
    def caught(self) -> bool:
        unit = self.original.manager.ledger.units.get(self.original.unit_id)
        return unit is not None and unit.locked

    @property
    def is_let_go(self) -> bool:
        """The original is being released: it may be unlocked before anybody has noted that."""
        return self._releasing is not None

    async def resolve(self) -> None:
        """A person looks into it; interrupted, the next one goes on from there."""
        if self.resolved:
            return
        await self.take_away()
        if self.caught or self.is_let_go:
            if self.is_let_go or self._original_fits():
                await self._let_go()
            else:
                self._retire()
            self.original.record.marks.fire(marks.FORK_CAUGHT)
        self.resolved = True

    async def end(self) -> None:
        """The floor closes: nothing that was begun here may be left behind."""
        await self.take_away()
        if self.is_let_go:
            await self._let_go()

    async def take_away(self) -> None:
        """Once begun it goes on to its end, also when whoever began it is interrupted."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self.table.close(), name="copy leaves")
        await asyncio.shield(self._leaving)

    def _original_fits(self) -> bool:
        """Whether the ledger still follows the original's journal."""
        ledger = self.original.manager.ledger.units[self.original.unit_id]
        rows = self.original.journal.rows
        return [row.digest for row in rows[: ledger.last_sequence]] == ledger.digests

    async def _let_go(self) -> None:
        """Once begun it goes on to its end, as taking the copy away does."""
        if self._releasing is None:
            self._releasing = asyncio.create_task(self._release(), name="original released")
        await asyncio.shield(self._releasing)

    async def _release(self) -> None:
        """An operator does, as soon as the manager can write it down."""
        manager = self.original.manager
        for _ in range(RELEASE_TRIES_MAX):
            with contextlib.suppress(StorageFailed):
                if manager.running and not manager.halted:
                    manager.ledger.people_release(self.original.plan.config.table_id)
                    app = manager.process.app
                    app.units.release(self.original.unit_id, REASON, PEOPLE)
                    await app.store.commits.until_durable()  # as an operator's answer does
                    self.original.watch.released()
                    self.original.record.note("fork", self.original.name, "released")
                    return
            await asyncio.sleep(1.0)
        self._retire()

    def _retire(self) -> None:
        self.original.record.note("fork", self.original.name, "retired")
        self.original.retired = True
        self.original.cut_power()
        for dealer in self._floor.dealers:
            if dealer.table is self.original:
                dealer.finished = True
