"""The books of a ledger that another manager writes, as of one moment: for pages, never to write.

It is an engine without a lease, so that the same books can be built on it. Every commit is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from manager.ledger.engines.engine import Batch, Loaded, Reader, StorageFailed, Tail
from manager.ledger.engines.queries import held_rows
from manager.ledger.engines.relations import RELATIONS, TRANSACTIONS, Held, Relation, Row, Where
from manager.ledger.errors import StoreError
from manager.ledger.store.ledger import Ledger


class WatchingEngine:
    def __init__(self, open_reader: Callable[[], Reader]) -> None:
        self._open_reader = open_reader
        self._ledger = Ledger(open_reader())

    def acquire(self) -> int | None:
        return 0

    def load(self) -> Loaded:
        with self._ledger.snapshot():
            held = [relation for relation in RELATIONS.values() if relation.held is not Held.NONE]
            rows = {relation.name: held_rows(self._ledger.find, relation) for relation in held}
            newest = self._ledger.find(TRANSACTIONS, {}, newest=1)
            found = self._ledger.row("SELECT value FROM meta WHERE key = 'ledger_id'")
        if found is None:
            raise StoreError("The ledger has lost its own identity.")
        tail = Tail(newest[0][0], bytes(newest[0][-1])) if newest else None
        return Loaded(bytes(found[0]), tail, rows)

    def find(
        self,
        relation: Relation,
        where: Where,
        newest: int | None = None,
        below: int | None = None,
    ) -> list[Row]:
        return self._ledger.find(relation, where, newest, below)

    def reader(self) -> Reader:
        return self._open_reader()

    def commit(self, batch: Batch) -> NoReturn:
        raise StorageFailed("Another manager writes this ledger.")

    def resolve(self, batch: Batch) -> NoReturn:
        raise StorageFailed("Another manager writes this ledger.")

    def close(self) -> None:
        self._ledger.close()
