"""A ledger whose archived days the database cannot read for itself: each place is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from manager.ledger.engines.engine import NEVER, Part, Reader, Rows, StorageFailed
from manager.ledger.engines.relations import EVENTS, POSTINGS, TABLES, TRANSACTIONS, Relation, Row
from manager.ledger.store.ledger import Ledger


class Places:
    """One file of archived days, and the database with the days since."""

    def _answer(self, place: int, query: str) -> Iterator[Row]:
        numbers = (10 * place + 2, 10 * place + 1) if "DESC" in query else (10 * place + 1,)
        yield from ((number,) for number in numbers)

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        return self._answer(2, query)

    def sources(self) -> list[Rows]:
        return [lambda query, values=(): self._answer(1, query), self.rows]


@pytest.mark.parametrize("relation", [TRANSACTIONS, POSTINGS, EVENTS])
def test_what_may_be_archived_is_looked_for_in_every_place(relation: Relation) -> None:
    """Catches: a win of an archived day that a report, an audit or a reversal does not find."""
    ledger = Ledger(cast(Reader, Places()))
    assert ledger.find(relation, {}) == [(11,), (21,)]
    assert ledger.find(relation, {}, newest=3) == [(22,), (21,), (12,)]
    assert ledger.find(relation, {}, newest=2) == [(22,), (21,)]


def test_what_is_never_archived_is_asked_of_the_database_alone() -> None:
    assert Ledger(cast(Reader, Places())).find(TABLES, {}) == [(21,)]


def test_postings_that_are_out_of_place_are_no_transaction() -> None:
    """Catches: a line of the books that was taken out, and an export that tells the rest."""
    found = [(1, 1, "players", -5), (1, 3, "meter/main/player", 5)]

    def rows(query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        yield from found if "FROM postings" in query else [(1, *[0] * len(TRANSACTIONS.columns))]

    part = Part(rows, "", 1, NEVER)
    reader = cast(Reader, SimpleNamespace(parts=lambda: [part]))
    with pytest.raises(StorageFailed, match="postings of ledger transaction 1 are out of place"):
        list(Ledger(reader).kept())
    found[1] = (1, 2, "meter/main/player", 5)
    (kept,) = Ledger(reader).kept()
    assert kept[0].postings == [("players", -5), ("meter/main/player", 5)]
