"""Finds wins, the newest first. It looks through a bounded number at a time and gives way between,
so that a search through years keeps no table waiting. Reads only.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from manager.ledger.book import Book
from manager.web.archive.filters import Filters
from manager.web.wins.view import WinsView
from protocol.numbers import SOURCE_METER

STEP_WINS = 2000
LOOKED_THROUGH_MAX = 100_000  # for one page
SHOWN_MAX = 50
CSV_WINS_MAX = 50_000

_LINES = "EXISTS (SELECT 1 FROM win_lines l WHERE l.win_number = w.number AND {})"
_SUM = "(SELECT sum(l.amount_cents) FROM win_lines l WHERE l.win_number = w.number)"
_REVERSED = "EXISTS (SELECT 1 FROM win_reversals r WHERE r.win_number = w.number)"
_STAMP = (
    "coalesce((SELECT s.stamp FROM win_stamps s WHERE s.win_number = w.number"
    " ORDER BY s.number DESC LIMIT 1), 'unstamped')"
)
_WORDS = (
    "(lower(w.authorised_by) LIKE ? ESCAPE '!' OR lower(w.table_id) LIKE ? ESCAPE '!' OR "
    + _LINES.format("(lower(l.hand_label) LIKE ? ESCAPE '!' OR lower(l.sensor) LIKE ? ESCAPE '!')")
    + ")"
)

View = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    wins: list[View]
    before: int  # where to go on, 0 when there is nothing more
    looked_to: int  # the oldest win that was looked at, when the search stopped early


class WinsArchive:
    def __init__(self, book: Book, wins: WinsView) -> None:
        self._book = book
        self._wins = wins

    def choices(self) -> View:
        """The tables and meters that one may choose."""
        tables, jackpots = self._book.tables, self._book.jackpots.all()
        return {
            "tables": [(each, tables.rules(each).settings.name) for each in tables.ids()],
            "meters": [(each.id, each.label) for each in jackpots],
        }

    async def find(self, filters: Filters, before: int = 0) -> Found:
        """A page of wins before this number, by default the newest."""
        low, high = self._range(filters)
        high = min(high, before) if before else high
        floor = max(low, high - LOOKED_THROUGH_MAX)
        numbers: list[int] = []
        async for number in self._numbers(filters, floor, high):
            numbers.append(number)
            if len(numbers) > SHOWN_MAX:
                break
        wins = [self._row(number) for number in numbers[:SHOWN_MAX]]
        if len(numbers) > SHOWN_MAX:
            return Found(wins, numbers[SHOWN_MAX - 1], 0)
        return Found(wins, floor, floor) if floor > low else Found(wins, 0, 0)

    async def each(self, filters: Filters) -> AsyncIterator[View]:
        """Every win that is looked for, up to `CSV_WINS_MAX`."""
        count = 0
        async for number in self._numbers(filters, *self._range(filters)):
            yield self._row(number)
            count += 1
            if count >= CSV_WINS_MAX:
                return
            if count % SHOWN_MAX == 0:
                await asyncio.sleep(0)

    # -- inside ------------------------------------------------------------------------------

    async def _numbers(self, filters: Filters, low: int, high: int) -> AsyncIterator[int]:
        """Numbers of wins from below `high` down to `low`."""
        where, values = _where(filters)
        query = f"SELECT w.number FROM wins w WHERE w.number >= ? AND w.number < ?{where}"
        query += " ORDER BY w.number DESC"
        while high > low:
            start = max(low, high - STEP_WINS)
            for (number,) in self._book.store.rows(query, (start, high, *values)):
                yield number
            high = start
            await asyncio.sleep(0)

    def _row(self, number: int) -> View:
        win = self._book.wins.find(number)
        assert win is not None
        row = self._wins.row(win)
        local = self._wins.gaming_day.local(win.commit_ms)
        day = self._wins.gaming_day.of(win.commit_ms)
        return row | {"local_time": f"{local:%Y-%m-%d %H:%M:%S}", "gaming_day": day.isoformat()}

    def _range(self, filters: Filters) -> tuple[int, int]:
        """The numbers of the days that are looked for: wins are numbered as they were booked."""
        bounds, wins = self._wins.gaming_day.bounds_ms, self._book.wins
        low = wins.first_from(bounds(filters.since)[0]) if filters.since else 1
        high = wins.first_from(bounds(filters.until)[1]) if filters.until else wins.count() + 1
        return low, high


def _where(filters: Filters) -> tuple[str, list[Any]]:
    parts: list[tuple[str, list[Any]]] = []
    if filters.table_id:
        parts.append(("w.table_id = ?", [filters.table_id]))
    if filters.meter_id:
        on_meter = _LINES.format("l.meter_id = ? AND l.source = ?")
        parts.append((on_meter, [filters.meter_id, SOURCE_METER]))
    if filters.least_cents:
        parts.append((f"{_SUM} >= ?", [filters.least_cents]))
    if filters.words:
        parts.append((_WORDS, [f"%{_escaped(filters.words.lower())}%"] * 4))
    match filters.state:
        case "":
            pass
        case "standing":
            parts.append((f"NOT {_REVERSED}", []))
        case "reversed":
            parts.append((_REVERSED, []))
        case state:
            parts.append((f"{_STAMP} = ?", [state]))
    where = "".join(f" AND {text}" for text, _ in parts)
    return where, [value for _, values in parts for value in values]


def _escaped(text: str) -> str:
    """No sign of what is looked for means anything to the search."""
    return "".join(f"!{each}" if each in "%_!" else each for each in text)
