"""A second unit that boots from a copy of a unit's card, and what people do when it is found out.

It alone knows how a copied card is dealt with: the copy is taken away; if the ledger still follows
the original's journal, an operator releases the unit, else the original waits for a technician.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING

import apsw

from sim.network import Cable
from sim.storm import marks
from sim.storm.table import StormTable
from sim.storm.weather import DrawnWeather

if TYPE_CHECKING:
    from sim.storm.floor import StormFloor

RELEASE_TRIES_MAX = 120
REASON = "The copied card was taken away."


class Clone:
    def __init__(self, floor: StormFloor, original: StormTable, chance: random.Random) -> None:
        """Copies the card as it is now; the original has no power."""
        self._floor = floor
        self.original = original
        self.resolved = False
        self._is_gone = False
        seed = f"clone {chance.randrange(1 << 62)}"
        cable = Cable(DrawnWeather(random.Random(f"{seed}/weather")))
        self.table = StormTable(
            original.plan, original.office, original.record, seed, cable, original
        )
        self.table.insert_card(original.disk.clone(random.Random(f"{seed}/card")))
        original.journal.copy_to(self.table.journal)

    async def power_on(self) -> None:
        self.original.office.tables.append(self.table)
        await self.table.open()

    @property
    def caught(self) -> bool:
        unit = self.original.office.ledger.units.get(self.original.unit_id)
        return unit is not None and unit.locked

    async def resolve(self) -> None:
        """A person looks into it; interrupted, the next one goes on from there."""
        if self.resolved:
            return
        await self.take_away()
        if self.caught:
            if self._original_fits():
                await self._release()
            else:
                self._retire()
            self.original.record.marks.fire(marks.FORK_CAUGHT)
        self.resolved = True

    async def take_away(self) -> None:
        if not self._is_gone:
            self._is_gone = True
            await self.table.close()

    def _original_fits(self) -> bool:
        """Whether the ledger still follows the original's journal."""
        ledger = self.original.office.ledger.units[self.original.unit_id]
        rows = self.original.journal.rows
        return [row.digest for row in rows[: ledger.last_sequence]] == ledger.digests

    async def _release(self) -> None:
        """An operator does, as soon as the manager can write it down."""
        office = self.original.office
        for _ in range(RELEASE_TRIES_MAX):
            with contextlib.suppress(apsw.Error):
                if office.running and not office.halted:
                    office.back_office.manager.units.release(self.original.unit_id, REASON)
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
