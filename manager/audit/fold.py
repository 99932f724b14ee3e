"""The books told again from the log alone: every row that the chain's transactions add up to.

Balances follow from the postings, a unit's progress from the events that the transactions name,
and everything else from the changes that they carry. Nothing is read but the transactions, so what
is kept beside them can be held against this. Whether they are chained is not known here.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import cbor2

from manager.ledger.store import accounts
from manager.ledger.store.chain import Recorded
from manager.ledger.store.entries import BY_THE_MANAGER, EventSource, Kind
from manager.ledger.store.relations import (
    BALANCES,
    EVENTS,
    POSTINGS,
    RELATIONS,
    TRANSACTIONS,
    UNITS,
    Key,
    Row,
)
from protocol.proof.chain import first_digest

# Told by the transactions themselves, never as a change.
_TOLD_OTHERWISE = frozenset(
    relation.name for relation in (TRANSACTIONS, POSTINGS, BALANCES, EVENTS)
)
_JOURNAL = UNITS.place("journal_id")
_SEQUENCE, _DIGEST = UNITS.place("last_sequence"), UNITS.place("last_digest")
_PROGRESS = slice(UNITS.place("last_sequence"), UNITS.place("last_event_ms") + 1)


class FoldRefused(Exception):  # noqa: N818
    """A transaction that cannot follow from the ones before it; the sentence goes on its name."""


class Told(NamedTuple):
    """One event as a transaction names it; its kind and body are proven by its digest."""

    monotonic_ms: int
    wall_ms: int
    digest: bytes
    commit_ms: int


class Fold:
    """Fed with every transaction in order."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[Key, Row]] = {
            name: {} for name in RELATIONS if name not in _TOLD_OTHERWISE - {BALANCES.name}
        }
        self.events: defaultdict[tuple[str, bytes], list[Told]] = defaultdict(list)
        self._last_ms = 0

    def take(self, recorded: Recorded) -> None:
        if recorded.commit_ms < self._last_ms:
            raise FoldRefused("was committed before the one before it")
        self._last_ms = recorded.commit_ms
        self._add_postings(recorded)
        self._check_kind(recorded)
        if recorded.changes:
            self._apply(_decoded(recorded.changes))
        if recorded.origin.sequence:
            self._advance(recorded.origin, recorded)

    # -- inside ------------------------------------------------------------------------------

    def _add_postings(self, recorded: Recorded) -> None:
        balances = self.rows[BALANCES.name]
        for account, moved in recorded.postings:
            key = (account,)
            known = balances.get(key)
            amount = moved if known is None else known[1] + moved
            if amount < 0 and accounts.is_custody(account):
                raise FoldRefused(f"overdraws {account}")
            balances[key] = (account, amount)

    def _check_kind(self, recorded: Recorded) -> None:
        if recorded.kind == Kind.NOTE and recorded.origin != BY_THE_MANAGER:
            raise FoldRefused("notes an act and names an event")
        if recorded.kind == Kind.EVENT and not self._is_next(recorded.origin):
            raise FoldRefused("takes in no event that is next")

    def _is_next(self, origin: EventSource) -> bool:
        unit = self.rows[UNITS.name].get((origin.unit_id,))
        return unit is not None and origin.sequence == unit[_PROGRESS][0] + 1

    def _apply(self, changes: list[Any]) -> None:
        for name, key, rest in changes:
            if name not in self.rows or name in _TOLD_OTHERWISE:
                raise FoldRefused(f"changes {name!r}, which no change can")
            relation, rows = RELATIONS[name], self.rows[name]
            place = tuple(key)
            if relation.append_only and (place in rows or rest is None):
                raise FoldRefused(f"changes a row of {name} that stands")
            if rest is None:
                rows.pop(place, None)
                continue
            row = (
                _changed(name, rows.get(place), rest) if isinstance(rest, dict) else (*place, *rest)
            )
            rows[place] = self._with_progress(row) if relation is UNITS else row

    def _with_progress(self, row: Row) -> Row:
        """How far a journal was taken in follows from its events alone, from its beginning on."""
        known, journal = self.rows[UNITS.name].get(UNITS.key_of(row)), UNITS.place("journal_id")
        begun = (0, first_digest(row[journal]), 0)
        progress = known[_PROGRESS] if known and known[journal] == row[journal] else begun
        return (*row[: _PROGRESS.start], *progress, *row[_PROGRESS.stop :])

    def _advance(self, origin: EventSource, recorded: Recorded) -> None:
        units, key = self.rows[UNITS.name], (origin.unit_id,)
        unit = units.get(key)
        if unit is None:
            raise FoldRefused(f"names an event of unit {origin.unit_id}, which was never greeted")
        _, sequence, monotonic_ms, wall_ms, digest = origin
        if sequence == unit[_SEQUENCE] and digest == unit[_DIGEST]:
            return  # one more transaction of the same event
        if sequence != unit[_SEQUENCE] + 1:
            raise FoldRefused(
                f"names event {sequence} of unit {origin.unit_id}, which is not its next"
            )
        changed = list(unit)
        changed[_PROGRESS] = (sequence, digest, recorded.commit_ms)
        units[key] = tuple(changed)
        told = Told(monotonic_ms, wall_ms, digest, recorded.commit_ms)
        self.events[origin.unit_id, unit[_JOURNAL]].append(told)


def _changed(name: str, row: Row | None, columns: dict[Any, Any]) -> Row:
    if row is None:
        raise FoldRefused(f"changes a row of {name} that is not there")
    changed = list(row)
    for place, value in columns.items():
        if type(place) is not int or not 0 <= place < len(row):
            raise FoldRefused(f"changes columns that {name} has not")
        changed[place] = value
    return tuple(changed)


def _decoded(changes: bytes) -> list[Any]:
    try:
        found = cbor2.loads(changes)
    except (cbor2.CBORError, ValueError) as error:
        raise FoldRefused(f"carries changes that cannot be read: {error}") from error
    if type(found) is not list:
        raise FoldRefused("carries changes that cannot be read")
    for each in found:
        if type(each) is not list or len(each) != 3 or type(each[1]) is not list:
            raise FoldRefused("carries changes that cannot be read")
    return found
