"""Holds every row that is kept against the fold of the log, and names the first that differs."""

from __future__ import annotations

from collections.abc import Iterator

from manager.audit.fold import Fold, Told
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.queries import select_text
from manager.ledger.store.relations import EVENTS, RELATIONS, Key, Relation, Row
from protocol.proof.chain import encoded_event_digest, first_digest
from protocol.wire.errors import ProtocolError

_ORPHAN = (
    "SELECT p.transaction_number FROM postings p LEFT JOIN transactions t"
    " ON t.number = p.transaction_number WHERE t.number IS NULL LIMIT 1"
)
_MISPLACED = (
    "SELECT transaction_number FROM postings GROUP BY transaction_number"
    " HAVING min(position) <> 1 OR max(position) <> count(*) LIMIT 1"
)


def first_difference(ledger: Ledger, fold: Fold) -> str:
    """Where the rows differ from what the chain tells, "" when nowhere."""
    for problem in _differences(ledger, fold):
        return problem
    return ""


def _differences(ledger: Ledger, fold: Fold) -> Iterator[str]:
    if len(ledger.rows("SELECT key FROM meta")) != 1:
        yield "The ledger says more about itself than its identity."
    for query, what in ((_ORPHAN, "belong to no transaction"), (_MISPLACED, "are out of place")):
        for (number,) in ledger.each(query):
            yield f"Postings of ledger transaction {number} {what}."
    for name, told in fold.rows.items():
        yield from _relation(ledger, RELATIONS[name], told)
    yield from _events(ledger, fold)


def _relation(ledger: Ledger, relation: Relation, told: dict[Key, Row]) -> Iterator[str]:
    unseen = dict(told)
    for row in ledger.each(select_text(relation, (), None, False)):
        key = relation.key_of(row)
        wanted = unseen.pop(key, None)
        if wanted is None:
            yield f"{_name(relation, key)} is kept, but the chain tells of none."
        elif wanted != row:
            yield f"{_name(relation, key)} {_otherwise(relation, row, wanted)}"
    for key in sorted(unseen):
        yield f"{_name(relation, key)} is told in the chain, but it is gone."


def _name(relation: Relation, key: Key) -> str:
    words = ", ".join(part.hex() if isinstance(part, bytes) else str(part) for part in key)
    return f"Row {words} of {relation.name}"


def _otherwise(relation: Relation, row: Row, wanted: Row) -> str:
    pairs = zip(relation.columns, row, wanted, strict=True)
    column, kept, told = next(each for each in pairs if each[1] != each[2])
    return f"keeps {column} as {kept!r}, but the chain says {told!r}."


def _events(ledger: Ledger, fold: Fold) -> Iterator[str]:
    seen: dict[tuple[str, bytes], int] = {}
    digests: dict[tuple[str, bytes], bytes] = {}
    for row in ledger.each(select_text(EVENTS, (), None, False)):
        unit_id, journal_id, number = row[:3]
        journal = (unit_id, journal_id)
        sequence = seen.get(journal, 0) + 1
        told = fold.events.get(journal, [])
        before = digests.get(journal) or first_digest(journal_id)
        if sequence > len(told):
            yield f"Event {number} of unit {unit_id} is kept, but the chain tells of none."
        elif not _is_told(row, sequence, before, told[sequence - 1]):
            yield f"Event {sequence} of unit {unit_id} does not follow in its journal."
        seen[journal], digests[journal] = sequence, row[EVENTS.place("digest")]
    for journal, events in fold.events.items():
        if seen.get(journal, 0) < len(events):
            number = seen.get(journal, 0) + 1
            yield f"Event {number} of unit {journal[0]} is told in the chain, but it is gone."


def _is_told(row: Row, sequence: int, before: bytes, told: Told) -> bool:
    _, _, number, kind, body, monotonic_ms, wall_ms, digest, commit_ms = row
    if number != sequence or told != (monotonic_ms, wall_ms, digest, commit_ms):
        return False
    # The digest covers the body's bytes, so there is no need to read what they say.
    try:
        wanted = encoded_event_digest(before, number, kind, body, monotonic_ms, wall_ms)
    except (ProtocolError, ValueError):
        return False
    return bool(wanted == digest)
