"""A gaming day as its page, its CSV and its PDF show it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from manager.ledger.book import Book
from manager.ledger.reports.day_reports import DayReport
from manager.ledger.reports.gaming_day import GamingDay
from manager.web.day.counting import PATIENCE_S, DayCounter
from manager.web.day.sections import Names, sections_of
from protocol.proof.tail import printed

View = dict[str, Any]


class DaysView:
    def __init__(
        self,
        book: Book,
        now_ms: Callable[[], int],
        gaming_day: GamingDay,
        property_name: str = "",
    ) -> None:
        self._book = book
        self._now_ms = now_ms
        self._gaming_day = gaming_day
        self.property_name = property_name
        self._counter = DayCounter(book, now_ms, gaming_day)

    @property
    def today(self) -> date:
        return self._gaming_day.of(self._now_ms())

    async def day(self, day: date | None = None, patience_s: float = PATIENCE_S) -> View | float:
        """A gaming day, today by default; or how much is counted, when it takes longer."""
        counted = await self._counter.ask(day or self.today, patience_s)
        return counted if isinstance(counted, float) else self._view(counted)

    def _view(self, report: DayReport) -> View:
        tables, today = self._book.tables, self.today
        names = Names(
            {table_id: tables.rules(table_id).settings.name for table_id in tables.ids()},
            {each.id: each.label for each in self._book.jackpots.all()},
        )
        return {
            "day": report.day.isoformat(),
            "starts": self._gaming_day.words,
            "is_today": report.day == today,
            "before": (report.day - timedelta(days=1)).isoformat(),
            "after": (report.day + timedelta(days=1)).isoformat() if report.day < today else "",
            "ties": report.ties,
            "sections": sections_of(report, names, report.day == today),
            "tail": printed(self._book.tails.now()),
        }
