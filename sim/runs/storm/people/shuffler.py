"""The shuffler of a table that has one: deals at each START, shows hands, and misbehaves.

What it tells is advice, and its line is a bad one at times. What a unit and a manager may make of
it is known to the checkers alone.
"""

from __future__ import annotations

import asyncio
import random

from sim.hardware.shuffler import ShufflerMachine
from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.journal_watch import Row
from sim.runs.storm.checks.restored import is_anew
from sim.runs.storm.checks.shuffler_watch import NOTHING, ROYAL, ShufflerLog
from sim.runs.storm.floor.table import StormTable

DEALER = 0
SECOND_DEAL_SHARE = 0.15
ROYAL_SHARE = 0.3
TROUBLE_SHARE = 0.15
UNPLUGGED_S = (0.2, 4.0)


class Shuffler:
    def __init__(self, table: StormTable, machine: ShufflerMachine, chance: random.Random) -> None:
        self._table = table
        self._machine = machine
        self._chance = chance
        self._started = asyncio.Event()
        self._log = ShufflerLog(table.name, table.record, table.journal)
        table.watch.listeners.append(self._recorded)

    def _recorded(self, row: Row) -> None:
        self._log.recorded(row)
        if row.kind == kinds.ROUND_START and not is_anew(row.body):
            self._started.set()

    async def run(self) -> None:
        while True:
            await self._started.wait()
            self._started.clear()
            await self._pause(0.05, 1.5)
            await self._deal()
            if self._chance.random() < SECOND_DEAL_SHARE:
                await self._deal()  # the first was thrown away

    async def _deal(self) -> None:
        seats = sorted({int(sensor[:-1]) for sensor in self._table.journal.round.accepted})
        self._machine.deals(len(seats) + 1)
        self._log.dealt(self._machine.deal_number, len(seats) + 1)
        for seat in [*seats, DEALER]:
            await self._pause(0.02, 0.5)
            if self._chance.random() < TROUBLE_SHARE:
                await self._trouble()
            cards = ROYAL if self._chance.random() < ROYAL_SHARE else NOTHING
            self._log.shown(self._machine.deal_number, seat, cards)
            self._machine.shows(seat, cards)

    async def _trouble(self) -> None:
        kind = self._chance.randrange(4)
        if kind == 0:
            self._machine.noise()
        elif kind == 1:
            self._machine.garbles(5)
        elif kind == 2:
            self._machine.breaks_off(5)
        else:
            self._machine.unplug()
            await self._pause(*UNPLUGGED_S)
            self._machine.plug()

    async def _pause(self, least_s: float, most_s: float) -> None:
        await asyncio.sleep(self._chance.uniform(least_s, most_s))
