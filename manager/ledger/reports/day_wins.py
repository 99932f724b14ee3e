"""The wins of a day by where they were paid from, and those that were taken back in it.

Counted from the wins' own records, as the slips print them, in steps of bounded work. Envy is paid
from the tray. Only reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from manager.ledger.book import Book
from manager.ledger.engines.relations import TRANSACTIONS, WIN_REVERSALS
from manager.ledger.wins import Win
from protocol.numbers import SOURCE_METER

STEP_WINS = 500
TRAY = ""  # in place of a meter's id


@dataclass(slots=True)
class PaidDay:
    """What one table paid from one source in a day, in cents."""

    table_id: str
    meter_id: str  # TRAY for the dealer's tray
    award_count: int = 0
    award_cents: int = 0
    envy_count: int = 0
    envy_cents: int = 0
    reversed_cents: int = 0  # awards and envy of wins that were taken back in the day


class WinsOfDay:
    def __init__(self, book: Book, first_ms: int, end_ms: int) -> None:
        self._book = book
        self._first_ms = first_ms
        self._end_ms = end_ms
        self._paid: dict[tuple[str, str], PaidDay] = {}

    def rows(self) -> list[PaidDay]:
        return [self._paid[key] for key in sorted(self._paid)]

    def count(self) -> Iterator[None]:
        """Gives way after every step."""
        wins = self._book.wins
        number, end = wins.first_from(self._first_ms), wins.first_from(self._end_ms)
        while number < end:
            for each in range(number, min(end, number + STEP_WINS)):
                win = wins.find(each)
                assert win is not None
                self._add(win)
            number += STEP_WINS
            yield
        for win_number, transaction in self._book.store.find(WIN_REVERSALS, {}):
            if self._is_within(transaction):
                win = wins.find(win_number)
                assert win is not None
                self._take_back(win)
        yield

    def _add(self, win: Win) -> None:
        for line in win.lines:
            source = self._source(win.table_id, line.meter_id, line.source)
            source.award_count += 1
            source.award_cents += line.amount_cents
        for envy in win.envy:
            tray = self._source(win.table_id)
            tray.envy_count += 1
            tray.envy_cents += envy.amount_cents

    def _take_back(self, win: Win) -> None:
        back: defaultdict[str, int] = defaultdict(int)
        for line in win.lines:
            back[line.meter_id if line.source == SOURCE_METER else TRAY] += line.amount_cents
        back[TRAY] += sum(envy.amount_cents for envy in win.envy)
        for meter_id, cents in back.items():
            if cents:
                self._source(win.table_id, meter_id, SOURCE_METER).reversed_cents += cents

    def _source(self, table_id: str, meter_id: str = TRAY, source: int = 0) -> PaidDay:
        key = (table_id, meter_id if source == SOURCE_METER else TRAY)
        return self._paid.setdefault(key, PaidDay(*key))

    def _is_within(self, transaction: int) -> bool:
        row = self._book.store.get(TRANSACTIONS, transaction)
        assert row is not None
        return bool(self._first_ms <= row[TRANSACTIONS.place("commit_ms")] < self._end_ms)
