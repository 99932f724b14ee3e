"""The cards that were swiped at the tables: a ticket for each right one, and when a wrong one was.

A ticket stands for one card and one claim, or one round that is to be void. Whoever holds it has
shown that card, whatever disk it comes from later. It judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from manager.ledger.engines.relations import SWIPES, WRONG_SWIPES
from manager.ledger.rounds import Round
from manager.ledger.store.store import Store
from protocol.numbers import SWIPE_VOID


@dataclass(frozen=True, slots=True)
class SwipedCard:
    label: str
    role: int


class Swipes:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._begun_ms = store.last_commit_ms  # of whoever had the ledger before
        self._void_given: dict[str, int] = {}  # the newest round of each table, taken back or not

    def give(
        self, table_id: str, purpose: int, number: int, card: SwipedCard, ticket: bytes
    ) -> None:
        row = (ticket, table_id, purpose, number, card.label, card.role, self._store.now_ms)
        self._store.put(SWIPES, row)
        if purpose == SWIPE_VOID:
            self._void_given[table_id] = number

    def may_be_void(self, played: Round) -> bool:
        """False when nobody can hold a ticket for it: it began here, and none was given since.

        Asked at every end of a round, where a look into the books' history would cost too much.
        """
        began_here = played.started_ms > self._begun_ms
        return not began_here or self._void_given.get(played.table_id) == played.number

    def card(self, table_id: str, purpose: int, number: int, ticket: bytes) -> SwipedCard | None:
        """The card behind a ticket, when it was swiped for this very thing."""
        row = self._store.get(SWIPES, ticket) if ticket else None
        if row is None or row[1:4] != (table_id, purpose, number):
            return None
        return SwipedCard(row[4], row[5])

    def note_wrong(self, table_id: str) -> None:
        newest = self._store.newest(WRONG_SWIPES)
        number = newest[0] + 1 if newest else 1
        self._store.put(WRONG_SWIPES, (number, table_id, self._store.now_ms))

    def newest_wrong_ms(self, table_id: str, count: int) -> list[int]:
        """When the newest wrong ones were swiped, newest first."""
        rows = self._store.find(WRONG_SWIPES, {"table_id": table_id}, newest=count)
        return [row[2] for row in rows]
