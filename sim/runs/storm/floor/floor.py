"""The floor of a storm: managers, tables, people, and the watchers' turn after every step.

It opens everything, lets it play, brings it to rest and closes it. What goes wrong in between is
the mischief's business.
"""

from __future__ import annotations

import asyncio
import random
from typing import Protocol

from sim.network.network import Cable
from sim.runs.storm.draw.tables import TablePlan, draw_floor, manager_count, manager_of
from sim.runs.storm.floor.clones import Clone
from sim.runs.storm.floor.loop import StormLoop
from sim.runs.storm.floor.manager import StormManager
from sim.runs.storm.floor.table import StormTable
from sim.runs.storm.floor.weather import DrawnWeather
from sim.runs.storm.options import DEEP
from sim.runs.storm.people.dealer import Dealer
from sim.runs.storm.people.shuffler import Shuffler
from sim.runs.storm.record import Record


class Watched(Protocol):
    def look(self) -> None: ...


class StormFloor:
    def __init__(self, tables: int, seed: str, record: Record, depth: str = DEEP) -> None:
        self.record = record
        self._depth = depth
        self.tables: list[StormTable] = []
        self.dealers: list[Dealer] = []
        self.clones: list[Clone] = []
        self._seed = seed
        self._to_look_at: dict[Watched, None] = {}  # in order, so that runs repeat
        self._playing: list[asyncio.Task[None]] = []
        self._shufflers: list[Shuffler] = []
        self._shuffling: list[asyncio.Task[None]] = []
        loop = asyncio.get_running_loop()
        assert isinstance(loop, StormLoop)
        loop.after_turn = self._after_turn
        self.loop = loop
        self.managers = [
            StormManager(f"manager-{n}", record, f"{seed}/{n}", self)
            for n in range(1, manager_count(tables) + 1)
        ]
        for number, plan in enumerate(draw_floor(tables, seed), 1):
            self._add_table(number, plan, self.managers[manager_of(number, tables)])

    def _add_table(self, number: int, plan: TablePlan, manager: StormManager) -> None:
        self.record.drew(plan.says)
        manager.open_table(plan)
        seed = f"{self._seed}/{number}"
        cable = Cable(DrawnWeather(random.Random(f"{seed}/weather")))
        table = StormTable(plan, manager, self.record, seed, cable, self._depth)
        manager.tables.append(table)
        self.tables.append(table)
        self.dealers.append(Dealer(table, random.Random(f"{seed}/dealer")))
        machine = table.world.controls.shuffler
        if machine is not None:
            chance = random.Random(f"{seed}/shuffler")
            self._shufflers.append(Shuffler(table, machine, chance))

    async def open(self) -> None:
        if self._depth == DEEP:
            # A tech for each table: those that stand open meanwhile would prove nothing.
            await asyncio.gather(*(table.install() for table in self.tables))
        for table in self.tables:
            if self._depth != DEEP:
                await table.install()
            await table.power_on()
        for dealer in self.dealers:
            name = f"dealer of {dealer.table.table_id}"
            self._playing.append(asyncio.create_task(dealer.run(), name=name))

        self._shuffling = [
            asyncio.create_task(shuffler.run(), name="shuffler") for shuffler in self._shufflers
        ]

    async def last_round(self, timeout_s: float) -> bool:
        """Every dealer finishes the round under way. False when one could not in time."""
        for dealer in self.dealers:
            dealer.closing = True
            dealer.finished |= dealer.table.retired
        waiting = [task for task in self._playing if not task.done()]
        if waiting:
            _, waiting_set = await asyncio.wait(waiting, timeout=timeout_s)
            return not waiting_set
        return True

    async def close(self) -> None:
        at_work = [*self._playing, *self._shuffling]
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)
        for clone in self.clones:
            await clone.end()
        for table in self.tables:
            await table.close()
        self.loop.after_turn = None  # a manager that has closed has nothing to look at
        for manager in self.managers:
            await manager.close()

    # -- watching ----------------------------------------------------------------------------

    def dirty(self, who: Watched) -> None:
        self._to_look_at[who] = None

    def _after_turn(self) -> None:
        if self._to_look_at:
            who, self._to_look_at = self._to_look_at, {}
            for each in who:
                each.look()

    def product_errors(self) -> list[tuple[str, BaseException]]:
        """What the code under test let fall, and who."""
        found = [(manager.name, error) for manager in self.managers for error in manager.errors]
        units = [*self.tables, *(clone.table for clone in self.clones)]
        found += [(table.name, error) for table in units for error in table.unit.all_failures()]
        for dealer, task in zip(self.dealers, self._playing, strict=False):
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                found.append((f"dealer of {dealer.table.table_id}", error))
        for task in self._shuffling:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                found.append(("shuffler", error))
        return found
