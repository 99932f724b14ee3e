"""The books' rows in memory, ahead of the engine by what is not durable yet.

It alone knows which rows memory holds and which must be asked for. Every change can be taken back
until its step stands: each leaves a note of what was there before. What a row means, and when it is
committed, is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from manager.ledger.engines.engine import Engine, Loaded
from manager.ledger.engines.relations import READABLE, Held, Key, Relation, Row, Where

_Changes = dict[str, dict[Key, Row | None]]
_Added = dict[str, dict[Key, Row]]
Place = tuple[tuple[str, ...], tuple[Any, ...]]  # columns, and the values that they must have
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
        # History that steps added: with the next batch, and with the one that is committed now.
        self._added: _Added = {name: {} for name in READABLE}
        self._committing: _Added = {}
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
        for added in self._additions(name):
            if key in added:
                return added[key]
        for columns, place in relation.newest_places:
            # Columns beyond the key make a place that nobody asks for, so nothing is kept there.
            newest = self._newest[name].get((columns, key[place]))
            if newest is not None and newest[: relation.key_count] == key:
                return newest
        stored = self._engine.find(relation, dict(zip(relation.columns, key, strict=False)))
        return stored[0] if stored else None

    def held_rows(self, relation: Relation, keys: Iterable[Key]) -> list[Row | None]:
        """These rows of a relation of which memory holds all."""
        return list(map(self._held[relation.name].get, keys))

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
        last, matches = relation.key_count - 1, relation.matcher(where)
        known = [each.items() for each in self._additions(relation.name)]
        for key, row in chain(*known, self._held[relation.name].items()):
            if row is not None and matches(row) and (below is None or key[last] < below):
                found[key] = row
            elif key in found:
                del found[key]  # memory knows better than the engine
        ordered = sorted((key for key, row in found.items() if row is not None))
        if newest is not None:
            ordered = ordered[::-1][:newest]
        return [row for key in ordered if (row := found[key]) is not None]

    def live(self, relation: Relation) -> list[Row]:
        """The live rows of a relation of which memory holds those."""
        held = self._held[relation.name]
        rows = [row for row in held.values() if row is not None and relation.is_live(row)]
        return sorted(rows, key=relation.key_of)

    def newest_at(self, relation: Relation, place: Place) -> Row | None:
        """The row with the highest key; the relation says by which columns it may be asked for."""
        kept = self._newest[relation.name]
        row: Row | None = kept.get(place, _ABSENT)
        if row is _ABSENT:
            found = self.find(relation, dict(zip(*place, strict=True)), newest=1)
            # What was found may be of a step that is taken back.
            self._undo.append((kept, place, _ABSENT, _NO_CHANGE, _UNSAID))
            row = kept[place] = found[0] if found else None
        return row

    # -- changing ----------------------------------------------------------------------------

    def put(self, relation: Relation, row: Row, said: bool = True) -> None:
        """Another row or another value; `said` is False when the chain tells it in another way."""
        key, name = row[: relation.key_count], relation.name
        held = self._held[name]
        before = held.get(key, _ABSENT)
        if not said:
            told = _UNSAID
        elif before is _ABSENT or relation.append_only:
            told = self._before(relation, key)
        else:
            told = before
        self._undo.append((held, key, before, name, told))
        held[key] = row
        for columns, place in relation.newest_places:
            self._raise_newest(relation, (columns, row[place]), row)

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

    def amount(self, relation: Relation, key: Key) -> int:
        """The one number of a row with a key of one column; 0 where there is none."""
        row = self._held[relation.name].get(key)
        return row[1] if row else 0

    def put_amounts(self, relation: Relation, rows: Iterable[Row]) -> None:
        """Such rows, all of which the chain tells in another way."""
        name, undo = relation.name, self._undo
        held = self._held[name]
        for row in rows:
            key = row[:1]
            undo.append((held, key, held.get(key, _ABSENT), name, _UNSAID))
            held[key] = row

    def _before(self, relation: Relation, key: Key) -> Row | None:
        """What the chain has told of a row so far; one beyond the newest can have no past."""
        if relation.append_only:
            return None
        for columns, place in relation.newest_places:
            newest = self._newest[relation.name].get((columns, key[place]))
            if newest is not None and key > newest[: relation.key_count]:
                return None
        return self.get(relation, *key)

    def _additions(self, name: str) -> Iterator[dict[Key, Row]]:
        for added in (self._added[name], self._committing.get(name)):
            if added:
                yield added

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

    def changed(self) -> list[tuple[str, Key, Row | None, Row | None]]:
        """What the step has said so far: relation, key, the row before it and the row now."""
        said: dict[tuple[str, Key], tuple[str, Key, Row | None, Row | None]] = {}
        for held, key, _, name, told in self._undo:
            if told is not _UNSAID and (name, key) not in said:
                said[name, key] = (name, key, told, held[key])  # told: before its first change
        return list(said.values())

    def end_step(self, added: Iterable[tuple[Relation, Iterable[Row]]] = ()) -> None:
        """The step stands with these new rows of history: it can no longer go back."""
        pending = self._pending
        for held, key, _, name, _ in self._undo:
            if name:
                pending[name][key] = held[key]
        self._undo.clear()
        for relation, rows in added:
            history, count = self._added[relation.name], relation.key_count
            for row in rows:
                history[row[:count]] = row

    # -- a batch -----------------------------------------------------------------------------

    def take_pending(self) -> dict[str, Mapping[Key, Row | None]]:
        """What has to become durable now, without the step under way."""
        assert not self._committing, "one batch at a time"
        taken: dict[str, Mapping[Key, Row | None]] = {}
        taken.update((name, rows) for name, rows in self._pending.items() if rows)
        self._committing = {name: rows for name, rows in self._added.items() if rows}
        for name, rows in self._committing.items():
            assert name not in taken, "history is added, or put"
            taken[name] = rows
        self._pending = {name: {} for name in READABLE}
        self._added = {name: {} for name in READABLE}
        return taken

    def settle(self, durable: Mapping[str, Mapping[Key, Row | None]]) -> None:
        """These rows are durable: memory lets go of those that it need not hold."""
        under_way = {(name, key) for _, key, _, name, _ in self._undo}
        committed, self._committing = self._committing, {}
        for name, rows in durable.items():
            relation, held = READABLE[name], self._held[name]
            if name in committed:
                continue
            if relation.held is Held.ALL and None not in rows.values():
                continue
            pending = self._pending[name]
            for key in rows:
                is_ahead = key in pending or (name, key) in under_way
                if not is_ahead and not _is_kept(relation, held[key]):
                    del held[key]


def _is_kept(relation: Relation, row: Row | None) -> bool:
    """True when memory goes on holding a row that is durable."""
    return row is not None and (relation.held is Held.ALL or relation.is_live(row))
