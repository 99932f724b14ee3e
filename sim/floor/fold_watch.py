"""Holds a manager's books against their log after each commit, told again as the log grows.

State before a restart and state after it are both the fold of the same log, or one of them is
wrong. So after each batch three things must be the same: what the log tells, what memory holds, and
what a start would load. Memory may be ahead of the log by steps that are not durable yet. Then the
batch itself is compared: it has every row that its steps changed, with the value after them.
What a start would load of relations that the batch did not write to is read after every so many
commits, at each start and at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from contextlib import suppress

from manager.audit.fold import Fold, FoldRefused
from manager.ledger.engines.engine import Batch, Engine, StorageFailed
from manager.ledger.engines.queries import held_rows
from manager.ledger.engines.relations import BALANCES, RELATIONS, UNITS, Held, Key, Relation, Row
from manager.ledger.store.chain import Recorded
from manager.ledger.store.changes import Unreadable, unpacked
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store

_HELD = [relation for relation in RELATIONS.values() if relation.held is not Held.NONE]
_Place = tuple[str, Key]  # a relation's name and a row's key
# To read all of a ledger's state costs as much as everything that a commit does.
READ_ALL_EVERY_COMMITS = 16


class FoldWatch:
    def __init__(self) -> None:
        self._fold = Fold()
        self._last = 0
        self._differs = ""  # the first difference stays
        self._commit_count = 0

    def committed(self, store: Store, batch: Batch) -> None:
        """A batch is durable; `difference` tells what was found."""
        if self._differs:
            return
        with suppress(StorageFailed):  # its disk fails: the next start reads the log on from here
            self._differs = self._after(store, batch)

    def difference(self, store: Store) -> str:
        """Where the books differ from their log, "" when nowhere; looks once more at all of it."""
        store.commits.flush()  # memory may be ahead of its log
        self._differs = self._differs or self._follow(store) or self._compare(store)
        return self._differs

    @property
    def found(self) -> str:
        """What was found so far, without another look."""
        return self._differs

    # -- inside ------------------------------------------------------------------------------

    def _after(self, store: Store, batch: Batch) -> str:
        # Steps that were committed while nobody looked, as those of a start.
        differs = self._follow(store, batch.previous.number)
        if differs:
            return differs
        before: dict[_Place, Row | None] = {}
        differs = self._follow(store, None, before)
        written = {name for name, _ in before} | batch.rows.keys()
        if differs or self._last != batch.newest.number:
            return differs or f"a batch ends at {batch.newest.number}, its log at {self._last}"
        differs = self._compare_batch(batch, before)
        if differs or store.is_in_step or store.tail() != batch.newest:
            return differs  # memory is ahead: what it held then is in the batch
        self._commit_count += 1
        reads_all = self._commit_count % READ_ALL_EVERY_COMMITS == 1
        return self._compare(store, None if reads_all else written)

    def _follow(
        self,
        store: Store,
        last: int | None = None,
        before: dict[_Place, Row | None] | None = None,
    ) -> str:
        """Reads the log on; `before` gets each row that it changes, as it was."""
        try:
            for recorded, taken, _ in store.kept(self._last + 1, last):
                if before is not None:
                    for place in _changed_by(recorded):
                        before.setdefault(place, self._row(place))
                self._fold.take(recorded, taken)
                self._last = recorded.number
        except (FoldRefused, Unreadable) as refused:
            return f"ledger transaction {self._last + 1} {refused}"
        return ""

    def _compare_batch(self, batch: Batch, before: dict[_Place, Row | None]) -> str:
        told = self._fold.rows
        for name, rows in batch.rows.items():
            if name not in told and name != BALANCES.name:
                continue  # entries and events are the log itself
            for key, row in rows.items():
                before.pop((name, key), None)
                wanted = self._row((name, key))
                if row != wanted:
                    return f"{name} {key} became {row} in memory, {wanted} by the log"
        for place, row in before.items():
            wanted = self._row(place)
            if row != wanted:
                return f"{place[0]} {place[1]} stayed {row} in memory, is {wanted} by the log"
        return ""

    def _compare(self, store: Store, read: Set[str] | None = None) -> str:
        """All of memory, and what a start would load of these relations, or of all."""
        if store.tail().number != self._last:
            return f"the books are at {store.tail().number}, their log at {self._last}"
        told, kept = self._fold.told(), Ledger(store.engine.reader())
        for relation in _HELD:
            wanted = told[relation.name]
            if relation.held is Held.LIVE:
                wanted = {key: row for key, row in wanted.items() if relation.is_live(row)}
            differs = _differs(relation, _in_memory(store, relation), wanted, "in memory")
            if not differs and (read is None or relation.name in read):
                loaded = held_rows(kept.find, relation)
                differs = _differs(relation, loaded, wanted, "as a start would load it")
            if differs:
                return differs
        return ""

    def _row(self, place: _Place) -> Row | None:
        name, key = place
        if name != BALANCES.name:
            return self._fold.rows.get(name, {}).get(key)
        amount = self._fold.balances.get(key[0])
        return None if amount is None else (key[0], amount)


class WatchedEngine:
    """The commits of one process on their way to its engine; each is looked at when it is done."""

    def __init__(self, store: Store, watch: FoldWatch) -> None:
        self._store = store
        self._engine: Engine = store.engine
        self._watch = watch

    def commit(self, batch: Batch) -> None:
        self._engine.commit(batch)
        self._watch.committed(self._store, batch)

    def resolve(self, batch: Batch) -> bool:
        return self._engine.resolve(batch)


def _changed_by(recorded: Recorded) -> Iterable[_Place]:
    """The rows that a transaction tells of, told by its own words alone."""
    for account, _ in recorded.postings:
        yield BALANCES.name, (account,)
    if recorded.origin.sequence:
        yield UNITS.name, (recorded.origin.unit_id,)
    if recorded.changes:
        for relation, key, _, _ in unpacked(recorded.changes, recorded.commit_ms):
            yield relation.name, key


def _in_memory(store: Store, relation: Relation) -> list[Row]:
    return store.find(relation, {}) if relation.held is Held.ALL else store.live(relation)


def _differs(relation: Relation, held: list[Row], wanted: dict[Key, Row], where: str) -> str:
    for row in held:
        key = relation.key_of(row)
        if row != wanted.get(key):
            return f"{relation.name} is {row} {where}, {wanted.get(key)} by the log"
    if len(held) != len(wanted):
        missing = wanted.keys() - {relation.key_of(row) for row in held}
        return f"{relation.name} lacks {sorted(missing)} {where}"
    return ""
