"""The wins of a table that were taken back and that its unit may not know of yet.

Only what was reversed since the last START counts: before it can start a round a unit is connected,
and hears of everything older. What a reversal moves is known in the ledger.
"""

from __future__ import annotations

from operator import itemgetter

from manager.intake.round_so_far import told_since_start
from manager.intake.units import Unit
from manager.ledger.book import Book
from manager.ledger.engines.relations import TRANSACTIONS, WIN_REVERSALS
from protocol.wire import events
from protocol.wire.fields import clipped
from protocol.wire.messages import Reversed


class Reversals:
    def __init__(self, book: Book) -> None:
        self._book = book

    def untold(self, unit: Unit) -> list[Reversed]:
        """What this unit is to be told, oldest first."""
        rows = self._since_start(unit.table_id)
        told = told_since_start(self._book.store, unit, events.REVERSED)
        known = {each.win_number for each in told if isinstance(each, events.Reversed)}
        return [
            Reversed(win, round_number, claim, clipped(sentence))
            for win, round_number, claim, sentence in rows
            if win not in known
        ]

    def _since_start(self, table_id: str) -> list[tuple[int, int, int, str]]:
        """Win, round, claim and sentence of each reversal since the last START, oldest first."""
        store, latest = self._book.store, self._book.rounds.latest(table_id)
        started_ms = latest.started_ms if latest else 0
        found: list[tuple[int, int, int, str]] = []
        newest_first = sorted(store.find(WIN_REVERSALS, {}), key=itemgetter(1), reverse=True)
        for win_number, number in newest_first:
            entry, win = store.get(TRANSACTIONS, number), self._book.wins.find(win_number)
            assert entry is not None
            assert win is not None
            if entry[TRANSACTIONS.place("commit_ms")] < started_ms:
                break
            if win.table_id == table_id:
                sentence = entry[TRANSACTIONS.place("sentence")]
                found.append((win_number, win.round_number, win.claim_number, sentence))
        return found[::-1]

    def check(self, unit: Unit, told: events.Reversed) -> str:
        """What is wrong with a unit's receipt, "" when that win of its table was reversed."""
        win = self._book.wins.find(told.win_number)
        if win is None or win.table_id != unit.table_id or not win.reversed_by:
            return f"The unit took back win {told.win_number}, which stands or is none of its own."
        return ""
