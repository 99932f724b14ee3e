"""A ledger as a reader sees it: what is durable, and nothing that could change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any, NamedTuple

from manager.ledger.engines.archived_rows import IN_ARCHIVES
from manager.ledger.engines.engine import NEVER, Part, Reader, Rows, StorageFailed
from manager.ledger.engines.queries import select_text
from manager.ledger.engines.relations import POSTINGS, TRANSACTIONS, Relation, Row, Where
from manager.ledger.errors import StoreError
from manager.ledger.store.chain import Recorded, Taken, genesis
from manager.ledger.store.entries import EventSource, Reference

_BETWEEN = " WHERE {0} >= ? AND {0} <= ? ORDER BY {0}"
_COLUMNS = ", ".join(TRANSACTIONS.columns)
_RECORDED = f"SELECT {_COLUMNS} FROM {{0}}transactions" + _BETWEEN.replace("{0}", "number")
_MOVED = (
    "SELECT transaction_number, position, account, amount_microcents FROM {0}postings"
    + _BETWEEN.replace("{0}", "transaction_number")
    + ", position"
)
_CHANGES, _DIGEST = TRANSACTIONS.place("changes"), TRANSACTIONS.place("digest")
_COMMIT_MS = TRANSACTIONS.place("commit_ms")
_tuple = tuple.__new__
_NO_MORE = (NEVER, 0, "", 0)


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

    def everywhere(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Rows of transactions, postings and events, wherever they lie, the oldest days first.

        Archived days may have to be asked for apart: each answers the whole query by itself. So
        sums have to be added up, and the highest of several has to be looked for.
        """
        for rows in self._sources():
            yield from rows(query, values)

    def newest_everywhere(self, query: str, values: Sequence[Any], count: int) -> list[Row]:
        """The same for a query that gives the newest rows first: at most so many of them."""
        found: list[Row] = []
        for rows in reversed(self._sources()):
            if len(found) < count:
                found += rows(query, values)
        return found[:count]

    def _sources(self) -> Sequence[Rows]:
        return self._reader.sources()

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
        if relation.name not in IN_ARCHIVES:
            return self.rows(query, values)
        if newest is None:
            return list(self.everywhere(query, values))
        return self.newest_everywhere(query, values, newest)

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
        for recorded, _, digest in self.kept(first, last):
            yield recorded, digest

    def kept(
        self, first: int = 1, last: int | None = None
    ) -> Iterator[tuple[Recorded, Taken, bytes]]:
        """The same, with the event that each of them took in."""
        for part in self._reader.parts():
            bounds = max(first, part.first), min(NEVER if last is None else last, part.last)
            if bounds[0] <= bounds[1]:
                yield from _kept_in(part, bounds)

    def first_since(self, moment_ms: int) -> int:
        """The first transaction that was committed then or later; one beyond the last if none.

        Looked for by halves: commits never run backwards, so an index by time would be a second
        one by number.
        """
        own = self._reader.parts()[-1]
        newest = f"SELECT number FROM {own.prefix}transactions ORDER BY number DESC LIMIT 1"
        low, beyond = 1, 1 + next(own.rows(newest, ()), (0,))[0]
        while low < beyond:
            middle = (low + beyond) // 2
            row = self.get(TRANSACTIONS, middle)
            if row is None or row[_COMMIT_MS] < moment_ms:
                low = middle + 1
            else:
                beyond = middle
        return int(low)

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


def _kept_in(part: Part, bounds: tuple[int, int]) -> Iterator[tuple[Recorded, Taken, bytes]]:
    entries = part.rows(_RECORDED.format(part.prefix), bounds)
    first = next(entries, None)
    # Asked for second, so that no posting is missed where a commit falls in between.
    moved = part.rows(_MOVED.format(part.prefix), bounds)
    posting = next(moved, _NO_MORE)
    for row in chain((first,) if first else (), entries):
        number = row[0]
        postings: list[tuple[str, int]] = []
        while posting[0] == number:
            postings.append(posting[2:])
            if posting[1] != len(postings):
                raise StorageFailed(f"postings of ledger transaction {number} are out of place")
            posting = next(moved, _NO_MORE)
        # Made as plain tuples are: an audit makes millions, and their own way costs twice.
        place, origin = _tuple(Reference, row[2:6]), _tuple(EventSource, row[9:14])
        parts = (number, row[1], place, *row[6:9], origin, postings, row[_CHANGES])
        yield _tuple(Recorded, parts), row[14:_CHANGES], row[_DIGEST]
