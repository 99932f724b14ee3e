"""The books' rows in memory, ahead of the engine by what is not durable yet.

It alone knows which rows memory holds and which must be asked for. Every change can be taken back
until its step stands: each leaves a note of what was there before. What a row means, and when it is
committed, is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from manager.ledger.store.engine import Engine, Loaded
from manager.ledger.store.relations import READABLE, Held, Key, Relation, Row, Where

_Changes = dict[str, dict[Key, Row | None]]
_ABSENT: Any = object()  # a key that was not in a dictionary
_NEWEST: Any = object()  # an undo of a newest row, not of a step's change
_UNSAID: Any = object()  # a row whose change the chain tells in another way


class Memory:
    def __init__(self, engine: Engine, loaded: Loaded) -> None:
        self._engine = engine
        self._held: _Changes = {name: {} for name in READABLE}
        self._pending: _Changes = {name: {} for name in READABLE}  # of steps that stand
        # What the step under way has changed: the row before its first change that is said.
        self._step: dict[tuple[str, Key], Row | None] = {}
        self._newest: dict[str, dict[Key, Row | None]] = {name: {} for name in READABLE}
        # Either what a row was and what the step had noted of it, or a newest row that was kept.
        self._undo: list[tuple[Any, Any, Any, Any]] = []
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
            self._undo.append((kept, place, _ABSENT, _NEWEST))
            kept[place] = found[0] if found else None
        return kept[place]

    # -- changing ----------------------------------------------------------------------------

    def put(self, relation: Relation, row: Row, said: bool = True) -> None:
        """Another row or another value; `said` is False when the chain tells it in another way."""
        self._change(relation, row[: relation.key_count], row, said)
        if not relation.newest_places:
            return
        for columns, places in relation.newest_places:
            values = tuple([row[place] for place in places])
            self._raise_newest(relation, (columns, values), row)

    def remove(self, relation: Relation, key: Key) -> None:
        self._change(relation, key, None, said=True)

    def update(self, relation: Relation, key: Key, said: bool = True, **values: Any) -> None:
        """Other values in some columns of a row that is there."""
        row = self.get(relation, *key)
        assert row is not None, f"{relation.name} has no {key}"
        changed = list(row)
        for column, value in values.items():
            changed[relation.place(column)] = value
        self.put(relation, tuple(changed), said)

    def _change(self, relation: Relation, key: Key, row: Row | None, said: bool) -> None:
        name, step = relation.name, self._step
        held, place = self._held[name], (name, key)
        known = step.get(place, _ABSENT)
        if known is _ABSENT or (said and known is _UNSAID):
            step[place] = self._before(relation, key) if said else _UNSAID
        self._undo.append((held, key, held.get(key, _ABSENT), (place, known)))
        held[key] = row

    def add(self, relation: Relation, row: Row) -> None:
        """A new row of history that the chain tells in another way: nothing was there before."""
        key, held = row[: relation.key_count], self._held[relation.name]
        place = (relation.name, key)
        self._step[place] = _UNSAID
        self._undo.append((held, key, _ABSENT, (place, _ABSENT)))
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
            self._undo.append((kept, place, known, _NEWEST))
            kept[place] = row

    # -- a step ------------------------------------------------------------------------------

    def mark(self) -> int:
        return len(self._undo)

    def back_to(self, mark: int) -> None:
        """Everything is as it was at the mark."""
        while len(self._undo) > mark:
            rows, key, before, noted = self._undo.pop()
            _set(rows, key, before)
            if noted is not _NEWEST:
                _set(self._step, *noted)

    def changed(self) -> Iterator[tuple[str, Key, Row | None, Row | None]]:
        """What the step has said so far: relation, key, the row before it and the row now."""
        for (name, key), before in self._step.items():
            if before is not _UNSAID:
                yield name, key, before, self._held[name][key]

    def end_step(self) -> None:
        """The step stands: it can no longer go back."""
        pending, held = self._pending, self._held
        for name, key in self._step:
            pending[name][key] = held[name][key]
        self._step.clear()
        self._undo.clear()

    # -- a batch -----------------------------------------------------------------------------

    def take_pending(self) -> _Changes:
        """What has to become durable now, without the step under way."""
        taken = {name: rows for name, rows in self._pending.items() if rows}
        self._pending = {name: {} for name in READABLE}
        return taken

    def settle(self, durable: Mapping[str, Mapping[Key, Row | None]]) -> None:
        """These rows are durable: memory lets go of those that it need not hold."""
        for name, rows in durable.items():
            relation, held = READABLE[name], self._held[name]
            pending = self._pending[name]
            for key in rows:
                is_ahead = key in pending or (name, key) in self._step
                if not is_ahead and not _is_kept(relation, held[key]):
                    del held[key]


def _set(rows: dict[Any, Any], key: Any, value: Any) -> None:
    if value is _ABSENT:
        rows.pop(key, None)
    else:
        rows[key] = value


def _is_kept(relation: Relation, row: Row | None) -> bool:
    """True when memory goes on holding a row that is durable."""
    if row is None or relation.held is Held.NONE:
        return False
    return relation.held is Held.ALL or relation.is_live(row)
