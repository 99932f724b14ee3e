"""The meters as pages show them: the floor's list, and one meter with its terms and its plot.

Reads only. A plot is drawn again at most twice a minute, because a live page asks all the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from manager.ledger.book import Book
from manager.ledger.jackpots import Jackpot, Standing
from manager.ledger.reports.gaming_day import GamingDay
from manager.ledger.wins import Win
from manager.money import MICROCENTS_PER_CENT
from manager.web.floor.history import SPANS, history
from manager.web.floor.plot import svg
from manager.web.wins.view import WinsView
from protocol.numbers import SOURCE_METER

WINS_SHOWN_MAX = 10
DRAWN_FOR_MS = 30_000
SPAN = "day"

View = dict[str, Any]


class MetersView:
    def __init__(
        self, book: Book, gaming_day: GamingDay, now_ms: Callable[[], int], wins: WinsView
    ) -> None:
        self._book = book
        self._gaming_day = gaming_day
        self._now_ms = now_ms
        self._wins = wins
        self._drawn: dict[tuple[str, str], View] = {}

    def rows(self) -> list[View]:
        """As the paytables rank them, the highest level of each game first."""
        places: dict[str, int] = {}
        for table_id in self._book.tables.ids():
            for game in self._book.tables.rules(table_id).settings.games:
                for meter in game.meters:
                    places.setdefault(meter.id, len(places))
        jackpots = self._book.jackpots.all()
        ordered = sorted(jackpots, key=lambda each: (places.get(each.id, len(places)), each.id))
        return [self._row(jackpot) for jackpot in ordered]

    def page(self, meter_id: str) -> View | None:
        jackpot = self._book.jackpots.find(meter_id)
        if jackpot is None:
            return None
        tables = self._book.tables
        names = {table_id: tables.rules(table_id).settings for table_id in tables.ids()}
        return {
            **self._row(jackpot),
            "contribution_ppm": jackpot.contribution_ppm,
            "reserve_ppm": jackpot.reserve_ppm,
            "freeze_claims": jackpot.freeze_claims,
            "fixed_pays_from": jackpot.fixed_pays_from,
            "overflow_to": jackpot.overflow_to,
            "opening_cents": jackpot.opening_cents,
            "tables": [
                {"id": table_id, "name": settings.name, "game": game.title}
                for table_id, settings in names.items()
                for game in settings.games
                if meter_id in {meter.id for meter in game.meters}
            ],
            "time_ms": self._now_ms(),
        }

    async def plot(self, meter_id: str, span: str = SPAN) -> View:
        """The picture of a span of `SPANS`, and what has to be said of it."""
        drawn, now_ms = self._drawn.get((meter_id, span)), self._now_ms()
        if drawn is None or now_ms - drawn["drawn_ms"] >= DRAWN_FOR_MS:
            drawn = await self._draw(meter_id, span, now_ms)
            self._drawn[meter_id, span] = drawn
        return drawn

    # -- inside ------------------------------------------------------------------------------

    async def _draw(self, meter_id: str, span: str, now_ms: int) -> View:
        told = await history(self._book, meter_id, SPANS[span], now_ms)
        values = [each.cents for each in told.moments]
        label = self._book.jackpots.get(meter_id).label
        return {
            "span": span,
            "spans": list(SPANS),
            "svg": svg(label, told, self._gaming_day.local),
            "is_cut": told.is_cut,
            "first_ms": told.first_ms,
            "drawn_ms": now_ms,
            "lowest_cents": min(values),
            "highest_cents": max([*values, *(each.cents for each in told.wins)]),
            "win_count": len(told.wins),
            "wins": [self._wins.row(win) for win in self._paid_from(meter_id)],
        }

    def _paid_from(self, meter_id: str) -> list[Win]:
        """The newest wins that this meter paid."""
        query = (
            "SELECT DISTINCT win_number FROM win_lines WHERE meter_id = ? AND source = ?"
            " ORDER BY win_number DESC LIMIT ?"
        )
        values = (meter_id, SOURCE_METER, WINS_SHOWN_MAX)
        found = [self._book.wins.find(row[0]) for row in self._book.store.rows(query, values)]
        return [win for win in found if win is not None]

    def _row(self, jackpot: Jackpot) -> View:
        state = self._book.jackpots.state(jackpot.id)
        standing = self._book.jackpots.standing(jackpot.id)
        return {
            "id": jackpot.id,
            "label": jackpot.label,
            "shown_cents": state.shown_cents,
            "seed_cents": jackpot.seed_cents,
            "reserve_cents": state.reserve_microcents // MICROCENTS_PER_CENT,
            "house_cents": state.house_microcents // MICROCENTS_PER_CENT,
            "player_cents": state.player_microcents // MICROCENTS_PER_CENT,
            "type": jackpot.type,
            "award_policy": jackpot.award_policy,
            "limit_cents": jackpot.limit_cents,
            "stopped": standing.stopped,
            "pending": _pending(standing),
        }


def _pending(standing: Standing) -> View:
    """The terms that the next reseed changes, with their values to come."""
    if standing.pending is None:
        return {}
    now, coming = asdict(standing.terms), asdict(standing.pending)
    return {name: value for name, value in coming.items() if value != now[name]}
