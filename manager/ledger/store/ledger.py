"""A ledger as a reader sees it: what is durable, and nothing that could change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from manager.ledger.errors import StoreError
from manager.ledger.store.chain import Recorded, genesis
from manager.ledger.store.engine import Reader
from manager.ledger.store.entries import EventSource, Posting, Reference
from manager.ledger.store.queries import select_text
from manager.ledger.store.relations import POSTINGS, TRANSACTIONS, Relation, Row, Where

_BETWEEN = " WHERE {0} >= ? AND {0} <= ? ORDER BY {0}"
_COLUMNS = ", ".join(TRANSACTIONS.columns)
_RECORDED = f"SELECT {_COLUMNS} FROM transactions" + _BETWEEN.format("number")
_MOVED = (
    "SELECT transaction_number, account, amount_microcents FROM postings"
    + _BETWEEN.format("transaction_number")
    + ", position"
)
_NEVER = 1 << 62  # a number that no transaction reaches


class Booked(NamedTuple):
    """One transaction of a round, without its postings."""

    number: int
    kind: str
    sensor: str
    claim_number: int
    detail_text: str


class Ledger:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def is_in_step(self) -> bool:
        """True while what is read may still be taken back."""
        return False

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        return list(self.each(query, values))

    def row(self, query: str, values: Sequence[Any] = ()) -> Row | None:
        found = self.rows(query, values)
        return found[0] if found else None

    def each(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows without loading them all."""
        return self._reader.rows(query, values)

    def find(
        self,
        relation: Relation,
        where: Where,
        newest: int | None = None,
        below: int | None = None,
    ) -> list[Row]:
        """Rows in the order of their keys, or the newest ones first; `below` bounds the key."""
        values = [*where.values()] + ([] if below is None else [below])
        query = select_text(relation, tuple(where), newest, below is not None)
        return self.rows(query, values)

    def get(self, relation: Relation, *key: Any) -> Row | None:
        found = self.find(relation, dict(zip(relation.columns, key, strict=False)))
        return found[0] if found else None

    def booked(self, table_id: str, round_number: int) -> list[Booked]:
        """What was booked for a round, in order."""
        place = {"table_id": table_id, "round_number": round_number}
        return [
            Booked(row[0], row[1], row[4], row[5], row[7]) for row in self.find(TRANSACTIONS, place)
        ]

    def postings(self, number: int) -> list[tuple[str, int]]:
        """The accounts and amounts of one transaction."""
        rows = self.find(POSTINGS, {"transaction_number": number})
        return [(account, amount) for _, _, account, amount in rows]

    def genesis(self) -> bytes:
        found = self.row("SELECT value FROM meta WHERE key = 'ledger_id'")
        if found is None:
            raise StoreError("The ledger has lost its own identity.")
        return genesis(found[0])

    def recorded(self, first: int = 1, last: int | None = None) -> Iterator[tuple[Recorded, bytes]]:
        """Transactions with their stored digests, oldest first, without loading them all."""
        bounds = (first, _NEVER if last is None else last)
        entries = self._reader.rows(_RECORDED, bounds)
        row = next(entries, None)
        # Asked for second, so that no posting is missed where a commit falls in between.
        moved = self._reader.rows(_MOVED, bounds)
        owner, account, amount = next(moved, _NO_MORE)
        while row is not None:
            postings: list[Posting] = []
            while owner == row[0]:
                postings.append(Posting(account, amount))
                owner, account, amount = next(moved, _NO_MORE)
            yield _recorded(row, tuple(postings)), row[15]
            row = next(entries, None)

    def damage(self) -> str:
        """What is wrong with the storage itself, "" when nothing."""
        return self._reader.damage()

    def snapshot(self) -> AbstractContextManager[None]:
        """Everything that is read inside is of one moment."""
        return self._reader.snapshot()

    def balances(self) -> dict[str, int]:
        return dict(self.rows("SELECT account, amount_microcents FROM balances"))

    def close(self) -> None:
        self._reader.close()


_NO_MORE = (_NEVER, "", 0)


def _recorded(row: Row, postings: tuple[Posting, ...]) -> Recorded:
    number, kind, *place, sentence, detail, commit_ms = row[:9]
    reference, origin = Reference(*place), EventSource(*row[9:14])
    return Recorded(number, kind, reference, sentence, detail, commit_ms, origin, postings, row[14])
