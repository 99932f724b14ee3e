"""The cage's and the accountants' questions to a manager, answered as plain values for pages.

Reads only. A day is counted in small steps and advice comes from another process, so that no page
keeps a table waiting; the words and the looks of a page are not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any

from manager.advice.adviser import Adviser
from manager.advice.typed_numbers import form_of, query_of, question_of
from manager.games import Catalogue
from manager.ledger.book import Book
from manager.ledger.reports.bank import bank_covers
from manager.ledger.reports.day_reports import DayReport, MeterDay, day_steps
from manager.ledger.reports.gaming_day import GamingDay
from protocol.proof.tail import printed

View = dict[str, Any]


class ReportsView:
    def __init__(
        self,
        book: Book,
        now_ms: Callable[[], int],
        catalogue: Callable[[], Catalogue],
        packs: tuple[str, ...] = (),
        gaming_day: GamingDay | None = None,
        adviser: Adviser | None = None,
    ) -> None:
        self._book = book
        self._now_ms = now_ms
        self._catalogue = catalogue
        self._packs = packs
        self._gaming_day = gaming_day or GamingDay()
        self._adviser = adviser or Adviser()
        self._counting = asyncio.Lock()

    # -- the cage ----------------------------------------------------------------------------

    def bank(self) -> View:
        """What each jackpot's bank account must hold now."""
        covers = [asdict(cover) for cover in bank_covers(self._book)]
        return {
            "covers": covers,
            "required_cents": sum(cover["required_cents"] for cover in covers),
            "time_ms": self._now_ms(),
        }

    async def day(self, day: date | None = None) -> View:
        """A gaming day, today by default; asks for one after another wait for each other."""
        today = self._gaming_day.of(self._now_ms())
        wanted = day or today
        async with self._counting:
            steps = day_steps(self._book, wanted, self._gaming_day)
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    return self._day(end.value, today)
                await asyncio.sleep(0)

    def _day(self, report: DayReport, today: date) -> View:
        names = {
            table_id: self._book.tables.rules(table_id).settings.name
            for table_id in self._book.tables.ids()
        }
        labels = {meter.meter_id: meter.label for meter in report.meters}
        return {
            "day": report.day.isoformat(),
            "starts": self._gaming_day.words,
            "is_today": report.day == today,
            "before": (report.day - timedelta(days=1)).isoformat(),
            "after": (report.day + timedelta(days=1)).isoformat() if report.day < today else "",
            "ties": report.ties,
            "accruals": [
                {
                    **asdict(row),
                    "label": labels[row.meter_id],
                    "name": names.get(row.table_id, row.table_id),
                    "total_microcents": row.contribution_microcents + row.reserve_microcents,
                }
                for row in report.accruals
            ],
            "meters": [{**asdict(meter), "rows": _rows(meter)} for meter in report.meters],
            "tail": printed(self._book.tails.now()),
        }

    # -- advice ------------------------------------------------------------------------------

    def games(self) -> View:
        """Every open game with the numbers it runs with, and every jackpot paytable there is."""
        catalogue = self._catalogue()
        paytables = [catalogue.load(name) for name in catalogue.ids()]
        return {
            "games": [row for table_id in self._book.tables.ids() for row in self._games(table_id)],
            "paytables": [
                {"id": each.id, "title": each.title} for each in paytables if each.is_jackpot
            ],
        }

    def _games(self, table_id: str) -> list[View]:
        rows: list[View] = []
        settings = self._book.tables.rules(table_id).settings
        for game in settings.games:
            standings = [self._book.jackpots.standing(meter.id) for meter in game.meters]
            running = [each.terms for each in standings]
            coming = [each.pending or each.terms for each in standings]
            paytable = self._catalogue().find(game.paytable)
            if paytable is None:  # the operator's folder is not there today
                rows.append({"table": settings.name, "title": game.title, "links": []})
                continue
            levels = [level.id for level in paytable.levels]
            links = [("Numbers in force", query_of(game, levels, running))]
            if coming != running:
                links.append(("From the next reseed on", query_of(game, levels, coming)))
            rows.append({"table": settings.name, "title": game.title, "links": links})
        return rows

    async def advice(self, typed: Mapping[str, str]) -> View:
        """The form as it was typed, what is wrong with it, and the advice when nothing is."""
        paytable = self._catalogue().find(typed.get("paytable", ""))
        if paytable is None or not paytable.is_jackpot:
            name = typed.get("paytable", "")
            return {"problems": [f"No pack has the jackpot paytable {name!r}."], "form": None}
        form = form_of(paytable, typed)
        question, problems = question_of(paytable, typed, self._packs)
        found = await self._adviser.answer(question) if question else None
        return {"form": form, "problems": problems, "advice": found}


def _rows(meter: MeterDay) -> list[View]:
    kinds = dict.fromkeys([*meter.by_kind, *meter.reserve_by_kind])
    return [
        {
            "kind": kind,
            "shown_microcents": meter.by_kind.get(kind, 0),
            "reserve_microcents": meter.reserve_by_kind.get(kind, 0),
        }
        for kind in kinds
    ]
