"""Holds every row that is kept against the fold of the log, and names the first that differs."""

from __future__ import annotations

from collections.abc import Iterator

from manager.audit.fold import Fold
from manager.ledger.engines.queries import select_text
from manager.ledger.engines.relations import RELATIONS, Held, Key, Relation, Row
from manager.ledger.store.ledger import Ledger

_ORPHAN = (
    "SELECT transaction_number FROM postings WHERE transaction_number >"
    " (SELECT coalesce(max(number), 0) FROM transactions) OR transaction_number < 1 LIMIT 1"
)


def first_difference(ledger: Ledger, fold: Fold, is_resumed: bool = False) -> str:
    """What is kept otherwise than the chain tells it, "" when nothing is.

    A fold that was resumed knows all rows of what memory holds, and of history what was changed
    since, and how many rows there are in all.
    """
    for problem in _differences(ledger, fold, is_resumed):
        return problem
    return ""


def _differences(ledger: Ledger, fold: Fold, is_resumed: bool) -> Iterator[str]:
    if len(ledger.rows("SELECT key FROM meta")) != 1:
        yield "The ledger says more about itself than its identity."
    for (number,) in ledger.each(_ORPHAN):
        yield f"Postings of ledger transaction {number} belong to no transaction."
    for name, told in fold.told().items():
        relation = RELATIONS[name]
        if is_resumed and relation.held is not Held.ALL:
            yield from _history(ledger, relation, told, fold.counts[name])
        else:
            yield from _relation(ledger, relation, told)


def _relation(ledger: Ledger, relation: Relation, told: dict[Key, Row]) -> Iterator[str]:
    count, key_count = 0, relation.key_count
    for row in ledger.each(select_text(relation, (), None, False)):
        count += 1
        wanted = told.get(row[:key_count])
        if wanted == row:
            continue
        name = _name(relation, relation.key_of(row))
        if wanted is None:
            yield f"{name} is kept, but the chain tells of none."
        else:
            yield f"{name} {_otherwise(relation, row, wanted)}"
    if count != len(told):  # every row that is kept was told: some that were told are not kept
        kept = {relation.key_of(row) for row in ledger.find(relation, {})}
        for key in sorted(told.keys() - kept):
            yield f"{_name(relation, key)} is told in the chain, but it is gone."


def _history(ledger: Ledger, relation: Relation, told: dict[Key, Row], count: int) -> Iterator[str]:
    kept = seen = 0
    for row in ledger.each(select_text(relation, (), None, False)):
        kept += 1
        wanted = told.get(relation.key_of(row))
        if wanted is None:
            continue  # of the days before
        seen += 1
        if wanted != row:
            yield f"{_name(relation, relation.key_of(row))} {_otherwise(relation, row, wanted)}"
    if kept != count or seen != len(told):
        yield f"{kept} rows of {relation.name} are kept, but the chain tells of {count}."


def _name(relation: Relation, key: Key) -> str:
    words = ", ".join(part.hex() if isinstance(part, bytes) else str(part) for part in key)
    return f"Row {words} of {relation.name}"


def _otherwise(relation: Relation, row: Row, wanted: Row) -> str:
    pairs = zip(relation.columns, row, wanted, strict=True)
    column, kept, told = next(each for each in pairs if each[1] != each[2])
    return f"keeps {column} as {kept!r}, but the chain says {told!r}."
