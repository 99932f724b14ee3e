"""What a resumed audit takes from the days before it: as it is stored, and not proven again."""

from __future__ import annotations

from collections import Counter

from manager.ledger.engines.relations import Key, Relation, Row
from manager.ledger.store.chain import Recorded
from manager.ledger.store.entries import Kind
from manager.ledger.store.ledger import Ledger

_MOVED = (
    "SELECT p.account, sum(p.amount_microcents) FROM transactions t"
    " JOIN postings p ON p.transaction_number = t.number"
    " WHERE t.table_id = ? AND t.claim_number = ? AND t.number <= ? AND t.kind IN (?, ?, ?, ?)"
    " GROUP BY p.account"
)
OF_A_CLAIM = (Kind.AWARD, Kind.RESEED, Kind.ENVY, Kind.HANDED_OVER)


class Earlier:
    """Nothing, for an audit from the first entry."""

    def row(self, relation: Relation, key: Key) -> Row | None:
        return None

    def moved(self, table_id: str, claim_number: int) -> dict[str, int]:
        return {}

    def recorded(self, number: int) -> Recorded | None:
        return None


class EarlierDays(Earlier):
    def __init__(self, ledger: Ledger, last: int) -> None:
        self._ledger = ledger
        self._last = last

    def row(self, relation: Relation, key: Key) -> Row | None:
        """As it is now: what was changed since is told again on top of it."""
        return self._ledger.get(relation, *key)

    def moved(self, table_id: str, claim_number: int) -> dict[str, int]:
        """What a claim's entries had moved."""
        values = (table_id, claim_number, self._last, *OF_A_CLAIM)
        moved: Counter[str] = Counter()
        for account, amount in self._ledger.everywhere(_MOVED, values):
            moved[account] += amount
        return dict(moved)

    def recorded(self, number: int) -> Recorded | None:
        if number > self._last:
            return None
        return next((each for each, _ in self._ledger.recorded(number, number)), None)
