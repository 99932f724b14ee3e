"""The books told again from the log alone: every row that the chain's transactions add up to.

Balances follow from the postings, a unit's progress from the events that the transactions name,
and everything else from the changes that they carry. Nothing is read but the transactions, so what
is kept beside them can be held against this. Whether they are chained is not known here.
"""

from __future__ import annotations

from manager.audit.earlier import Earlier
from manager.audit.image import Image
from manager.ledger.engines.relations import (
    BALANCES,
    POSTINGS,
    RELATIONS,
    ROUNDS,
    TRANSACTIONS,
    UNITS,
    Held,
    Key,
    Relation,
    Row,
)
from manager.ledger.store import accounts
from manager.ledger.store.chain import NO_EVENT, Recorded, Taken
from manager.ledger.store.changes import GONE, NEW, Unreadable, unpacked, with_changes
from manager.ledger.store.entries import BY_THE_MANAGER, EventSource
from protocol.proof.chain import encoded_event_digest, first_digest
from protocol.wire.errors import ProtocolError

# Told by the transactions themselves, never as a change.
_TOLD_OTHERWISE = frozenset({TRANSACTIONS.name, POSTINGS.name, BALANCES.name})
_JOURNAL = UNITS.place("journal_id")
_SEQUENCE, _DIGEST = UNITS.place("last_sequence"), UNITS.place("last_digest")
_PROGRESS = slice(UNITS.place("last_sequence"), UNITS.place("last_event_ms") + 1)
_REST = _PROGRESS.stop


class FoldRefused(Exception):  # noqa: N818
    """A transaction that cannot follow from the ones before it; the sentence goes on its name."""


# An event that a transaction names, its journal, and what that had come to before it.
_Named = tuple[EventSource, bytes, bytes]


class Fold:
    """Fed with every transaction in order, from the first or from where an image was made."""

    def __init__(self, image: Image | None = None, earlier: Earlier | None = None) -> None:
        """`earlier` knows the rows of days that are not told again."""
        self.rows: dict[str, dict[Key, Row]] = {
            name: {} for name in RELATIONS if name not in _TOLD_OTHERWISE
        }
        self.counts: dict[str, int] = dict.fromkeys(self.rows, 0)  # of rows, the earlier ones too
        self.balances: dict[str, int] = {}
        self.event_count = 0
        self._earlier = earlier or Earlier()
        self._units, self._rounds = self.rows[UNITS.name], self.rows[ROUNDS.name]
        self._last_ms = 0
        if image is not None:
            self._resume(image)
        self._named: _Named | None = None  # by a transaction whose step has more of them

    def told(self) -> dict[str, dict[Key, Row]]:
        """Every row by its relation's name and its key."""
        balances: dict[Key, Row] = {(name,): (name, sum_) for name, sum_ in self.balances.items()}
        return {**self.rows, BALANCES.name: balances}

    def image(self, number: int, digest: bytes) -> Image:
        """The books as they stand now, after this transaction."""
        told = self.told()
        rows = {name: _held(RELATIONS[name], rows) for name, rows in told.items()}
        counts = {**self.counts, BALANCES.name: len(self.balances)}
        return Image(number, digest, self._last_ms, self.event_count, counts, rows)

    def _resume(self, image: Image) -> None:
        for name, found in image.rows.items():
            if name in self.rows:
                key_of = RELATIONS[name].key_of
                self.rows[name].update((key_of(row), row) for row in found)
                self.counts[name] = image.counts[name]
        self.balances = dict(image.rows[BALANCES.name])
        self.event_count, self._last_ms = image.event_count, image.last_ms

    def take(self, recorded: Recorded, taken: Taken | None = None) -> None:
        """One more transaction; `taken` is the event that it keeps, None where nobody knows."""
        _, kind, _, _, _, commit_ms, origin, postings, changes = recorded
        if commit_ms < self._last_ms:
            raise FoldRefused("was committed before the one before it")
        self._last_ms = commit_ms
        if postings:
            self._add_postings(recorded)
        if kind == "NOTE" and origin != BY_THE_MANAGER:
            raise FoldRefused("notes an act and names an event")
        if changes:
            self._apply(changes, commit_ms)
        if origin[1]:
            self._advance(origin, kind, commit_ms)
        elif kind == "EVENT":
            raise FoldRefused("takes in no event that is next")
        if taken is None:
            self._named = None  # an export tells of no events
        elif taken != NO_EVENT:
            self._keep(origin, taken)
        elif self._named is not None and self._named[0] != origin:
            raise FoldRefused(_left_open(self._named))

    def end(self) -> None:
        """There are no more transactions."""
        if self._named is not None:
            raise FoldRefused(_left_open(self._named))

    # -- inside ------------------------------------------------------------------------------

    def _add_postings(self, recorded: Recorded) -> None:
        balances = self.balances
        for account, moved in recorded.postings:
            amount = balances[account] = balances.get(account, 0) + moved
            if amount < 0 and accounts.is_custody(account):
                raise FoldRefused(f"overdraws {account}")

    def _apply(self, changes: bytes, commit_ms: int) -> None:
        try:
            told = unpacked(changes, commit_ms)
        except Unreadable as error:
            raise FoldRefused(f"carries changes that cannot be read: {error}") from error
        for relation, key, mask, values in told:
            if relation is ROUNDS and mask == NEW:  # most of a ledger, with nothing to look up
                rows = self._rounds
                self.counts[ROUNDS.name] += key not in rows
                rows[key] = key + values
            else:
                self._change(relation, key, mask, values)

    def _change(self, relation: Relation, key: Key, mask: int, values: Row) -> None:
        name = relation.name
        if name in _TOLD_OTHERWISE:
            raise FoldRefused(f"changes {name!r}, which no change can")
        rows = self.rows[name]
        if relation.append_only and (mask != NEW or key in rows):
            raise FoldRefused(f"changes a row of {name} that stands")
        if mask == GONE:
            self.counts[name] -= 1
            rows.pop(key, None)
            return
        if mask == NEW:
            self.counts[name] += key not in rows
            row: Row = key + values
        elif (known := rows.get(key)) is not None:
            row = with_changes(known, mask, values)
        else:
            row = self._change_earlier(relation, key, mask, values)
        rows[key] = self._with_progress(row) if relation is UNITS else row

    def _change_earlier(self, relation: Relation, key: Key, mask: int, values: Row) -> Row:
        """A row that the days before were done with; no image may come to hold it again."""
        known = self._earlier.row(relation, key)
        if known is None:
            raise FoldRefused(f"changes a row of {relation.name} that is not there")
        row = with_changes(known, mask, values)
        if relation.held is Held.LIVE and relation.is_live(row):
            raise FoldRefused(f"takes a row of {relation.name} up that was done with")
        return row

    def _with_progress(self, row: Row) -> Row:
        """How far a journal was taken in follows from its events alone, from its beginning on."""
        known = self._units.get(UNITS.key_of(row))
        begun = (0, first_digest(row[_JOURNAL]), 0)
        progress = known[_PROGRESS] if known and known[_JOURNAL] == row[_JOURNAL] else begun
        return (*row[: _PROGRESS.start], *progress, *row[_PROGRESS.stop :])

    def _advance(self, origin: EventSource, kind: str, commit_ms: int) -> None:
        unit_id, sequence, _, _, digest = origin
        unit = self._units.get((unit_id,))
        if unit is None:
            raise FoldRefused(f"names an event of unit {unit_id}, which was never greeted")
        before = unit[_DIGEST]
        if sequence == unit[_SEQUENCE] and digest == before and kind != "EVENT":
            return  # one more transaction of the same event
        if sequence != unit[_SEQUENCE] + 1:
            if kind == "EVENT":
                raise FoldRefused("takes in no event that is next")
            raise FoldRefused(f"names event {sequence} of unit {unit_id}, which is not its next")
        if self._named is not None:
            raise FoldRefused(_left_open(self._named))
        self._units[(unit_id,)] = (*unit[:_SEQUENCE], sequence, digest, commit_ms, *unit[_REST:])
        self.event_count += 1
        self._named = (origin, unit[_JOURNAL], before)

    def _keep(self, origin: EventSource, taken: Taken) -> None:
        """The event that the step's last transaction keeps is the one that all of them name."""
        named = self._named
        if named is None or named[0] != origin or named[1] != taken[0]:
            raise FoldRefused("keeps an event that it does not take in")
        self._named = None
        _, sequence, monotonic_ms, wall_ms, digest = origin
        try:
            wanted = encoded_event_digest(
                named[2], sequence, taken[1], taken[2], monotonic_ms, wall_ms
            )
        except (ProtocolError, ValueError):
            wanted = b""
        if wanted != digest:
            raise FoldRefused(f"keeps event {sequence} otherwise than unit {origin[0]} said it")


def _held(relation: Relation, rows: dict[Key, Row]) -> list[Row]:
    """What an image keeps of a relation: what a manager holds in memory."""
    if relation.held is Held.NONE:
        return []
    is_whole = relation.held is Held.ALL
    return [rows[key] for key in sorted(rows) if is_whole or relation.is_live(rows[key])]


def _left_open(named: _Named) -> str:
    return f"follows event {named[0].sequence} of unit {named[0].unit_id}, which is gone"
