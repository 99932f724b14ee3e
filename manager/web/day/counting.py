"""Counts gaming days beside everything else, and says how far it has come.

A day is counted in small steps, so that no table waits; whoever asks meanwhile hears how much is
done. A day that is over cannot change any more: its report is kept.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from datetime import date

from manager.ledger.book import Book
from manager.ledger.reports.day_reports import DayReport, day_steps
from manager.ledger.reports.gaming_day import GamingDay

KEPT_MAX = 31
PATIENCE_S = 2.0  # how long a page waits for the whole before it shows how far it is


class DayCounter:
    def __init__(self, book: Book, now_ms: Callable[[], int], gaming_day: GamingDay) -> None:
        self._book = book
        self._now_ms = now_ms
        self._gaming_day = gaming_day
        self._turn = asyncio.Lock()  # one at a time: each costs the tables a little
        self._kept: OrderedDict[date, DayReport] = OrderedDict()
        self._under_way: dict[date, asyncio.Task[DayReport]] = {}
        self._done: dict[date, float] = {}

    async def ask(self, day: date, patience_s: float = PATIENCE_S) -> DayReport | float:
        """The report, or how much of it is done when it takes longer than that."""
        if day in self._kept:
            return self._kept[day]
        task = self._under_way.get(day)
        if task is None:
            task = asyncio.create_task(self._count(day), name=f"gaming day {day}")
            self._under_way[day] = task
        done, _ = await asyncio.wait({task}, timeout=patience_s)
        return task.result() if done else self._done.get(day, 0.0)

    async def _count(self, day: date) -> DayReport:
        try:
            async with self._turn:
                is_over = self._gaming_day.of(self._now_ms()) > day
                report = await self._counted(day)
        finally:
            self._under_way.pop(day, None)
            self._done.pop(day, None)
        if is_over:
            self._kept[day] = report
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)
        return report

    async def _counted(self, day: date) -> DayReport:
        steps = day_steps(self._book, day, self._gaming_day)
        while True:
            try:
                self._done[day] = next(steps)
            except StopIteration as end:
                report: DayReport = end.value
                return report
            await asyncio.sleep(0)
