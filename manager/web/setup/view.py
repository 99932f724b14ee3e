"""What the set-up pages know of the floor: packs, jackpots that run, and who shares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from manager.games import Catalogue, Paytable
from manager.ledger.book import Book
from manager.ledger.terms import Jackpot

View = dict[str, Any]


class SetupView:
    def __init__(self, book: Book, catalogue: Callable[[], Catalogue]) -> None:
        self._book = book
        self._catalogue = catalogue

    def groups(self) -> list[View]:
        """Each jackpot with what it shows and the tables that are linked by it."""
        tables = self._book.tables
        settings = {table_id: tables.rules(table_id).settings for table_id in tables.ids()}
        return [
            {
                "id": jackpot.id,
                "label": jackpot.label,
                "type": jackpot.type,
                "shown_cents": self._book.jackpots.state(jackpot.id).shown_cents,
                "stopped": self._book.jackpots.standing(jackpot.id).stopped,
                "games": sorted(
                    {
                        (game.title, game.paytable)
                        for each in settings.values()
                        for game in each.games
                        if jackpot.id in {meter.id for meter in game.meters}
                    }
                ),
                "tables": [
                    (table_id, each.name)
                    for table_id, each in settings.items()
                    if any(jackpot.id == m.id for game in each.games for m in game.meters)
                ],
            }
            for jackpot in self._book.jackpots.all()
        ]

    def paytables(self) -> list[View]:
        catalogue = self._catalogue()
        found = [catalogue.load(name) for name in catalogue.ids()]
        return [{"id": each.id, "title": each.title} for each in found if each.is_jackpot]

    def paytable(self, name: str) -> Paytable | None:
        found = self._catalogue().find(name)
        return found if found is not None and found.is_jackpot else None

    def running(self) -> Mapping[str, Jackpot]:
        """The jackpots that another table may join, with what their file says of them."""
        jackpots = self._book.jackpots
        return {
            each.id: jackpots.standing(each.id).terms
            for each in jackpots.all()
            if not jackpots.standing(each.id).closed
        }
