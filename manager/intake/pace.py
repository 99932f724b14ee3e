"""How fast people can deal: rounds that come faster are not people's, and are not booked.

Counted by the manager's own clock over the newest rounds of the table, so that a burst is seen as
soon as it is longer than any dealer's.
"""

from __future__ import annotations

from manager.ledger.book import Book
from manager.ledger.engines.relations import ROUNDS
from manager.ledger.errors import BookingRefused
from manager.ledger.rules import TableRules
from protocol.wire.errors import ErrorCode

HOUR_MS = 3_600_000
# Rounds looked at together: one misdeal ended early, or a round opened again, is no alarm.
LOOKED_AT = 10


class Pace:
    def __init__(self, book: Book) -> None:
        self._book = book
        self._kept: dict[str, list[tuple[int, int]]] = {}  # of each table: number, started_ms

    def check(self, rules: TableRules, number: int) -> None:
        limit = rules.authority.rounds_per_hour_max
        if not limit:
            return
        started = self._newest(rules.table_id)
        if len(started) < LOOKED_AT:
            return
        took_ms = self._book.store.now_ms - started[0][1]
        if took_ms < LOOKED_AT * HOUR_MS // limit:
            raise BookingRefused(
                f"Round {number} is refused: {LOOKED_AT + 1} rounds within {took_ms // 1000} s are"
                " faster than people deal.",
                ErrorCode.WAGER,
            )

    def _newest(self, table_id: str) -> list[tuple[int, int]]:
        """The newest rounds, oldest first; read from the books only where need be."""
        latest = self._book.rounds.latest(table_id)
        if latest is None:
            return []
        kept = self._kept.get(table_id, [])
        if kept and kept[-1][0] == latest.number - 1:
            kept = [*kept, (latest.number, latest.started_ms)][-LOOKED_AT:]
        elif not kept or kept[-1] != (latest.number, latest.started_ms):
            rows = self._book.store.find(ROUNDS, {"table_id": table_id}, newest=LOOKED_AT)
            kept = [(row[1], row[4]) for row in rows][::-1]
        self._kept[table_id] = kept
        return kept
