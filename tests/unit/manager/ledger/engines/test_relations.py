"""What every engine is told of the relations: which rows are history, which live in memory."""

from __future__ import annotations

import pytest

from manager.ledger.engines.engine import Batch, StorageFailed, Tail
from manager.ledger.engines.relations import (
    ALARMS,
    CLAIMS,
    RELATIONS,
    Held,
    Relation,
    Row,
)
from manager.ledger.engines.sqlite_engine import SqliteEngine


def test_history_is_only_ever_added() -> None:
    """Catches: a second win that takes the place of the first one without a word."""
    history = [each for each in RELATIONS.values() if each.held is Held.NONE]
    assert {each.name for each in history if not each.append_only} == {"rounds"}
    assert {"postings", "wins", "win_lines", "alarms"} <= {each.name for each in history}


def test_a_row_of_history_is_not_written_over() -> None:
    engine = SqliteEngine(":memory:")
    engine.acquire()
    for label in ("first", "second"):
        row = (1, 5, "U1", "T1", 0, "CODE", label)
        batch = Batch(Tail(0, b""), Tail(0, b""), {"alarms": {(1,): row}})
        if label == "first":
            engine.commit(batch)
        else:
            with pytest.raises(StorageFailed):
                engine.commit(batch)
    assert engine.find(ALARMS, {})[0][-1] == "first"
    engine.close()


@pytest.mark.parametrize(
    ("state", "settled", "is_live"),
    [("OPEN", 0, True), ("OWED", 1, True), ("COMMITTED", 0, True), ("COMMITTED", 1, False)],
)
def test_a_claim_is_live_until_it_is_settled(state: str, settled: int, is_live: bool) -> None:
    row = ["T1", 1, *[0] * (len(CLAIMS.columns) - 2)]
    row[CLAIMS.place("state")], row[CLAIMS.place("settled")] = state, settled
    assert CLAIMS.is_live(tuple(row)) is is_live


def test_the_newest_row_is_kept_by_columns_that_stand_side_by_side() -> None:
    """Catches: the newest alarm of another unit, because a slice of the row was taken wrongly."""
    row: Row = (3, 5, "U1", "T1", 0, "CODE", "")
    assert [(names, row[place]) for names, place in ALARMS.newest_places] == [
        ((), ()),
        (("unit_id",), ("U1",)),
    ]
    with pytest.raises(AssertionError, match="do not stand side by side"):
        Relation("odd", 1, {"a": "i", "b": "i", "c": "i"}, newest_by=(("a", "c"),))
