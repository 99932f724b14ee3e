"""The cage's and the accountants' questions to a manager, answered as plain values for pages.

Reads only. Advice comes from another process, so that no page keeps a table waiting; the words and
the looks of a page are not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from manager.advice.adviser import Adviser
from manager.advice.typed_numbers import form_of, query_of, question_of
from manager.games import Catalogue
from manager.ledger.book import Book
from manager.ledger.reports.bank import bank_covers
from manager.ledger.reports.gaming_day import GamingDay
from manager.web.day.view import DaysView
from manager.web.setup.view import SetupView

View = dict[str, Any]
ADVICE_PATIENCE_S = 2.0  # a page waits so long before it says that it counts


class ReportsView:
    def __init__(
        self,
        book: Book,
        now_ms: Callable[[], int],
        catalogue: Callable[[], Catalogue],
        packs: tuple[str, ...] = (),
        gaming_day: GamingDay | None = None,
        adviser: Adviser | None = None,
        property_name: str = "",
    ) -> None:
        self._book = book
        self._now_ms = now_ms
        self._catalogue = catalogue
        self._packs = packs
        self.setup = SetupView(book, catalogue)
        self.days = DaysView(book, now_ms, gaming_day or GamingDay(), property_name)
        self._adviser = adviser or Adviser()

    # -- the cage ----------------------------------------------------------------------------

    def bank(self) -> View:
        """What each jackpot's bank account must hold now."""
        covers = [asdict(cover) for cover in bank_covers(self._book)]
        return {
            "covers": covers,
            "required_cents": sum(cover["required_cents"] for cover in covers),
            "time_ms": self._now_ms(),
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
            problem = f"No pack has the jackpot paytable {name!r}."
            return {"problems": [problem], "form": None, "advice": None, "is_counting": False}
        form = form_of(paytable, typed)
        question, problems = question_of(paytable, typed, self._packs)
        found = await self._adviser.within(question, ADVICE_PATIENCE_S) if question else None
        is_counting = question is not None and found is None
        return {"form": form, "problems": problems, "advice": found, "is_counting": is_counting}
