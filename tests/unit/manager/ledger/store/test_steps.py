"""A step is all or nothing, its batch becomes durable at once, and SQL sees whole steps only."""

from __future__ import annotations

import pytest

from manager.ledger.engines.engine import Batch, OutcomeUnknown, StorageFailed
from manager.ledger.engines.relations import BALANCES, COUNTERS, ROUNDS
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.errors import LedgerError
from manager.ledger.store.store import Store
from tests.kit.pretend_units import Clock

NUMBERS = "SELECT number FROM rounds ORDER BY number"


def row(number: int, ended_ms: int = 0) -> tuple[object, ...]:
    return ("T1", number, "[]", "[]", 1, ended_ms)


def two_changes_and_a_refusal(store: Store) -> None:
    with store.transaction():
        store.put(ROUNDS, row(2))
        store.update(ROUNDS, ("T1", 1), ended_ms=9)
        raise LedgerError("No.")


def broken_batch(store: Store) -> None:
    with store.commits.batch():
        store.put(ROUNDS, row(1))
        raise KeyError("a mistake of ours")


@pytest.fixture
def store() -> Store:
    return Store(SqliteEngine(":memory:"), Clock())


def test_a_refused_step_leaves_nothing_behind(store: Store) -> None:
    store.put(ROUNDS, row(1))
    tail = store.tail()
    with pytest.raises(LedgerError):
        two_changes_and_a_refusal(store)
    assert (store.tail(), store.newest(ROUNDS, table_id="T1")) == (tail, row(1))
    assert store.find(ROUNDS, {}) == [row(1)]
    store.put(ROUNDS, row(3))
    assert store.rows(NUMBERS) == [(1,), (3,)]


def test_a_refused_part_leaves_the_rest_of_its_step(store: Store) -> None:
    with store.transaction():
        store.put(ROUNDS, row(1))
        store.put(COUNTERS, ("T0", 1, 0, 0, 0, 1))
        with pytest.raises(LedgerError):
            two_changes_and_a_refusal(store)
        store.put(COUNTERS, ("T1", 1, 0, 0, 0, 1))
    assert (store.rows(NUMBERS), store.tail().number) == ([(1,)], 1)


def test_steps_of_a_batch_are_written_in_one_commit(store: Store) -> None:
    commits: list[Batch] = []
    commit = store.engine.commit
    store.engine.commit = lambda batch: (commits.append(batch), commit(batch))[1]  # type: ignore[method-assign]
    with store.commits.batch():
        for number in (1, 2, 3):
            store.put(ROUNDS, row(number))
        assert commits == []
    assert [(each.previous.number, each.newest.number) for each in commits] == [(0, 3)]
    assert store.rows(NUMBERS) == [(1,), (2,), (3,)]


def test_sql_within_a_batch_sees_the_steps_before_and_not_the_one_under_way(store: Store) -> None:
    """Catches: a step that reads by SQL what an earlier step of its batch has changed."""
    with store.commits.batch():
        store.put(ROUNDS, row(1))
        with store.transaction():
            store.put(ROUNDS, row(2))
            assert store.rows(NUMBERS) == [(1,)]
            assert store.find(ROUNDS, {}) == [row(1), row(2)]
        store.put(ROUNDS, row(3))
    assert store.rows(NUMBERS) == [(1,), (2,), (3,)]


def test_memory_reads_what_is_not_durable_over_what_is(store: Store) -> None:
    store.put(ROUNDS, row(1))
    with store.commits.batch():
        store.update(ROUNDS, ("T1", 1), ended_ms=5)
        store.put(ROUNDS, row(2))
        assert store.find(ROUNDS, {"ended_ms": 0}) == [row(2)]
        assert store.find(ROUNDS, {"table_id": "T1"}, newest=1) == [row(2)]
        assert store.find(ROUNDS, {"table_id": "T1"}, newest=9, below=2) == [row(1, 5)]
        assert store.get(ROUNDS, "T1", 1) == row(1, 5)


def test_a_commit_that_fails_ends_all_writing(store: Store) -> None:
    def fails(batch: Batch) -> None:
        raise StorageFailed("the disk is gone")

    commit, store.engine.commit = store.engine.commit, fails  # type: ignore[method-assign]
    with pytest.raises(StorageFailed, match="the disk is gone"):
        store.put(BALANCES, ("players", 1))
    store.engine.commit = commit  # type: ignore[method-assign]
    with pytest.raises(StorageFailed, match="the disk is gone"):
        store.put(BALANCES, ("players", 2))


def test_a_batch_that_breaks_in_the_middle_is_never_written(store: Store) -> None:
    with pytest.raises(KeyError):
        broken_batch(store)
    assert store.rows(NUMBERS) == []
    with pytest.raises(StorageFailed):
        store.put(ROUNDS, row(2))


def test_commit_time_never_runs_backwards() -> None:
    clock = Clock()
    store = Store(SqliteEngine(":memory:"), clock)
    store.put(ROUNDS, row(1))
    clock.ms -= 86_400_000
    store.put(ROUNDS, row(2))
    times = [recorded.commit_ms for recorded, _ in store.recorded()]
    assert times == sorted(times)


def test_what_cannot_be_chained_is_taken_back(store: Store) -> None:
    with pytest.raises(UnicodeEncodeError):
        store.put(COUNTERS, ("\ud800", 1, 0, 0, 0, 1))
    assert store.find(COUNTERS, {}) == []
    assert store.tail().number == 0


@pytest.mark.parametrize("was_done", [True, False])
def test_a_commit_without_an_answer_is_made_again_only_when_it_was_not_done(
    store: Store, monkeypatch: pytest.MonkeyPatch, was_done: bool
) -> None:
    """Catches: what is durable already written a second time, or what is lost not at all."""
    tried: list[Batch] = []
    commit = store.engine.commit

    def answer_lost(batch: Batch) -> None:
        tried.append(batch)
        if was_done or len(tried) > 1:
            commit(batch)
        if len(tried) == 1:
            raise OutcomeUnknown("the line was cut")
        assert len(tried) < 4, "it goes on for ever"

    monkeypatch.setattr(store.engine, "commit", answer_lost)
    store.put(ROUNDS, row(1))
    assert len(tried) == (1 if was_done else 2)
    assert store.rows(NUMBERS) == [(1,)]


def test_a_step_is_known_from_its_first_moment_to_its_last(store: Store) -> None:
    """Catches: rows of a step that is taken back, kept by who thought that it stands."""
    assert not store.is_in_step
    with store.transaction():
        assert store.is_in_step
        with store.transaction():
            assert store.is_in_step
        assert store.is_in_step
    assert not store.is_in_step
