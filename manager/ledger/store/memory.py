"""The books' rows in memory, ahead of the engine by what is not durable yet.

It alone knows which rows memory holds and which must be asked for. Every change can be taken back
until its step stands: each leaves a note of what was there before. What a row means, and when it is
committed, is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from manager.ledger.engines.engine import Engine, Loaded
from manager.ledger.engines.relations import READABLE, Held, Key, Relation, Row, Where

_Changes = dict[str, dict[Key, Row | None]]
_ABSENT: Any = object()  # a key that was not in a dictionary
_UNSAID: Any = object()  # a row whose change the chain tells in another way
_NO_CHANGE = ""  # in the place of a relation's name: a newest row that was kept, not a change
# To take one change back: the dictionary, the key, what was there, the relation's name, and the row
# as the chain has told it before. One tuple, because a step makes a dozen of them.
_Undo = tuple[dict[Any, Any], Any, Any, str, Any]


class Memory:
    def __init__(self, engine: Engine, loaded: Loaded) -> None:
        self._engine = engine
        self._held: _Changes = {name: {} for name in READABLE}
        self._pending: _Changes = {name: {} for name in READABLE}  # of steps that stand
        self._newest: dict[str, dict[Key, Row | None]] = {name: {} for name in READABLE}
        self._undo: list[_Undo] = []  # of the step under way, which is known by it alone
        for name, rows in loaded.rows.items():
            relation = READABLE[name]
            self._held[name] = {relation.key_of(row): row for row in rows}

    # -- reading -----------------------------------------------------------------------------

    def get(self, relation: Relation, *key: Any) -> Row | None:
        name = relation.name
        found: Row | None = self._held[name].get(key, _ABSENT)
        if found is not _ABSENT:
            return found
        if relation.held is Held.ALL:
            return None
        for columns, places in relation.newest_places:
            if all(place < relation.key_count for place in places):
                values = tuple([key[place] for place in places])
                newest = self._newest[name].get((columns, values))
                if newest is not None and newest[: relation.key_count] == key:
                    return newest
        stored = self._engine.find(relation, dict(zip(relation.columns, key, strict=False)))
        return stored[0] if stored else None

    def find(
        self,
        relation: Relation,
        where: Where,
        newest: int | None = None,
        below: int | None = None,
    ) -> list[Row]:
        """Rows in the order of their keys, or the newest ones first; `Engine.find` with memory."""
        if relation.held is Held.ALL:
            found: dict[Key, Row | None] = {}
        else:
            stored = self._engine.find(relation, where, newest, below)
            found = {relation.key_of(row): row for row in stored}
        last = relation.key_count - 1
        for key, row in self._held[relation.name].items():
            within = below is None or key[last] < below
            if row is not None and within and relation.matches(row, where):
                found[key] = row
            else:
                found.pop(key, None)  # memory knows better than the engine
        ordered = sorted((key for key, row in found.items() if row is not None))
        if newest is not None:
            ordered = ordered[::-1][:newest]
        return [row for key in ordered if (row := found[key]) is not None]

    def live(self, relation: Relation) -> list[Row]:
        """The live rows of a relation of which memory holds those."""
        held = self._held[relation.name]
        rows = [row for row in held.values() if row is not None and relation.is_live(row)]
        return sorted(rows, key=relation.key_of)

    def newest(self, relation: Relation, **where: Any) -> Row | None:
        """The row with the highest key; the relation says by which columns it may be asked for."""
        kept, place = self._newest[relation.name], (tuple(where), tuple(where.values()))
        if place not in kept:
            found = self.find(relation, where, newest=1)
            # What was found may be of a step that is taken back.
            self._undo.append((kept, place, _ABSENT, _NO_CHANGE, _UNSAID))
            kept[place] = found[0] if found else None
        return kept[place]

    # -- changing ----------------------------------------------------------------------------

    def put(self, relation: Relation, row: Row, said: bool = True) -> None:
        """Another row or another value; `said` is False when the chain tells it in another way."""
        key, name = row[: relation.key_count], relation.name
        held = self._held[name]
        told = self._before(relation, key) if said else _UNSAID
        self._undo.append((held, key, held.get(key, _ABSENT), name, told))
        held[key] = row
        for columns, places in relation.newest_places:
            values = tuple([row[place] for place in places])
            self._raise_newest(relation, (columns, values), row)

    def remove(self, relation: Relation, key: Key) -> None:
        held, told = self._held[relation.name], self._before(relation, key)
        self._undo.append((held, key, held.get(key, _ABSENT), relation.name, told))
        held[key] = None

    def update(self, relation: Relation, key: Key, said: bool = True, **values: Any) -> None:
        """Other values in some columns of a row that is there."""
        row = self.get(relation, *key)
        assert row is not None, f"{relation.name} has no {key}"
        changed = list(row)
        for column, value in values.items():
            changed[relation.place(column)] = value
        self.put(relation, tuple(changed), said)

    def add(self, relation: Relation, row: Row) -> None:
        """A new row of history that the chain tells in another way: nothing was there before."""
        name, key = relation.name, row[: relation.key_count]
        held = self._held[name]
        self._undo.append((held, key, _ABSENT, name, _UNSAID))
        held[key] = row

    def complete(self, relation: Relation, row: Row) -> None:
        """The same step's row with what was not known when it was put."""
        self._held[relation.name][row[: relation.key_count]] = row

    def _before(self, relation: Relation, key: Key) -> Row | None:
        """What the chain has told of a row so far; one beyond the newest can have no past."""
        if relation.append_only:
            return None
        for columns, places in relation.newest_places:
            values = tuple([key[place] for place in places])
            newest = self._newest[relation.name].get((columns, values))
            if newest is not None and key > newest[: relation.key_count]:
                return None
        return self.get(relation, *key)

    def _raise_newest(self, relation: Relation, place: Key, row: Row) -> None:
        kept = self._newest[relation.name]
        known = kept.get(place, _ABSENT)
        if known is _ABSENT:
            return
        count = relation.key_count
        if known is None or row[:count] >= known[:count]:
            self._undo.append((kept, place, known, _NO_CHANGE, _UNSAID))
            kept[place] = row

    # -- a step ------------------------------------------------------------------------------

    def mark(self) -> int:
        return len(self._undo)

    def back_to(self, mark: int) -> None:
        """Everything is as it was at the mark."""
        while len(self._undo) > mark:
            rows, key, before, _, _ = self._undo.pop()
            if before is _ABSENT:
                rows.pop(key, None)
            else:
                rows[key] = before

    def changed(self) -> Iterator[tuple[str, Key, Row | None, Row | None]]:
        """What the step has said so far: relation, key, the row before it and the row now."""
        said: dict[tuple[str, Key], Row | None] = {}
        for _, key, _, name, told in self._undo:
            if told is not _UNSAID:
                said.setdefault((name, key), told)  # the row before its first change that is said
        for (name, key), told in said.items():
            yield name, key, told, self._held[name][key]

    def end_step(self) -> None:
        """The step stands: it can no longer go back."""
        pending = self._pending
        for held, key, _, name, _ in self._undo:
            if name:
                pending[name][key] = held[key]
        self._undo.clear()

    # -- a batch -----------------------------------------------------------------------------

    def take_pending(self) -> _Changes:
        """What has to become durable now, without the step under way."""
        taken = {name: rows for name, rows in self._pending.items() if rows}
        self._pending = {name: {} for name in READABLE}
        return taken

    def settle(self, durable: Mapping[str, Mapping[Key, Row | None]]) -> None:
        """These rows are durable: memory lets go of those that it need not hold."""
        under_way = {(name, key) for _, key, _, name, _ in self._undo}
        for name, rows in durable.items():
            relation, held = READABLE[name], self._held[name]
            if relation.held is Held.ALL and None not in rows.values():
                continue
            pending = self._pending[name]
            for key in rows:
                is_ahead = key in pending or (name, key) in under_way
                if not is_ahead and not _is_kept(relation, held[key]):
                    del held[key]


def _is_kept(relation: Relation, row: Row | None) -> bool:
    """True when memory goes on holding a row that is durable."""
    if row is None or relation.held is Held.NONE:
        return False
    return relation.held is Held.ALL or relation.is_live(row)
