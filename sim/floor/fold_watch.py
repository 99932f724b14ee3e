"""Holds a manager's books in memory against its log, told again as it grows.

State before a restart and state after it are both the fold of the same log, or one of them is
wrong. It reads what is durable and compares every row that memory holds.
"""

from __future__ import annotations

from manager.audit.fold import Fold, FoldRefused
from manager.ledger.engines.relations import RELATIONS, Held, Relation, Row
from manager.ledger.store.store import Store


class FoldWatch:
    def __init__(self) -> None:
        self._fold = Fold()
        self._last = 0

    def difference(self, store: Store) -> str:
        """Where the books in memory differ from their log, "" when nowhere."""
        store.commits.flush()  # memory may be ahead of its log
        try:
            for recorded, taken, _ in store.kept(self._last + 1):
                self._fold.take(recorded, taken)
                self._last = recorded.number
        except FoldRefused as refused:
            return f"ledger transaction {self._last + 1} {refused}"
        if store.tail().number != self._last:
            return f"the books are at {store.tail().number}, their log at {self._last}"
        for name, rows in self._fold.told().items():
            told = [rows[key] for key in sorted(rows)]
            held, wanted = _held(store, RELATIONS[name], told)
            if held != wanted:
                return f"{name} is {held} in memory, {wanted} by the log"
        return ""


def _held(store: Store, relation: Relation, told: list[Row]) -> tuple[list[Row], list[Row]]:
    """The rows that memory holds, and those that it should hold."""
    if relation.held is Held.ALL:
        return store.find(relation, {}), told
    if relation.held is Held.LIVE:
        return store.live(relation), [row for row in told if relation.is_live(row)]
    return [], []
