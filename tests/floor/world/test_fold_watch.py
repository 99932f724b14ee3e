"""Books, log and what a start would load are compared after each commit, and each lie is named.

Mutations of the shipped code that are tried here: a row that memory changes without an entry, an
entry that memory does not take, a change that is written nowhere, a value that goes to the disk as
another, memory that is changed between two steps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from manager.ledger.engines.relations import COUNTERS, TABLES, Relation, Row
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.store import steps
from manager.ledger.store.changes import packed
from manager.ledger.store.memory import Memory
from sim.floor.fold_watch import READ_ALL_EVERY_COMMITS
from sim.floor.manager import SimManager
from sim.time.loop import run_virtual
from tests.kit.pretend_units import Clock, table_toml

COMMIT_MS = 50.0
Patch = pytest.MonkeyPatch
ROW = ("touch-1", 1, 100, 0, 0, 1)


def count(manager: SimManager) -> None:
    """A step that changes one row beside the money, and moves some."""
    store = manager.app.store
    with store.transaction():
        manager.app.book.alarms.record("TEST", "It was counted.")
        store.put(COUNTERS, ROW)


def found_after(act: Callable[[SimManager], None], commit_ms: float | None = None) -> str:
    """What is found by the commit alone: nobody asks for another look."""

    async def play() -> str:
        late = None if commit_ms is None else lambda: COMMIT_MS
        manager = SimManager(1, Clock(), late)
        manager.open_table(table_toml())
        assert manager.found_difference == ""
        act(manager)
        if commit_ms is not None:
            # Memory goes on: the next step stands before this one is durable.
            manager.app.book.alarms.record("TEST", "Memory is ahead.")
            await asyncio.sleep(commit_ms / 1000)
            assert manager.app.store.tail() != manager.app.store.commits.durable_tail
        found = manager.found_difference
        await manager.close()
        return found

    return run_virtual(play())


LATE = pytest.mark.parametrize("commit_ms", [None, COMMIT_MS * 1.5], ids=["at once", "late"])


@LATE
def test_sound_books_differ_nowhere(commit_ms: float | None) -> None:
    assert found_after(count, commit_ms) == ""


@LATE
def test_memory_that_changes_without_an_entry_is_found(
    commit_ms: float | None, monkeypatch: Patch
) -> None:
    put = Memory.put

    def mutated(self: Memory, relation: Relation, row: Row, said: bool = True) -> None:
        put(self, relation, row, said and relation is not COUNTERS)

    monkeypatch.setattr(Memory, "put", mutated)
    assert "became ('touch-1', 1, 100" in found_after(count, commit_ms)


@LATE
def test_an_entry_that_memory_does_not_take_is_found(
    commit_ms: float | None, monkeypatch: Patch
) -> None:
    def mutated(changed: Iterable[Any], now_ms: int) -> bytes:
        told = list(changed)
        if any(name == COUNTERS.name for name, *_ in told):
            told.append((TABLES.name, ("touch-1",), None, ("touch-1", "UF-other", b"")))
        return packed(told, now_ms)

    monkeypatch.setattr(steps, "packed", mutated)
    assert "tables ('touch-1',) stayed" in found_after(count, commit_ms)


@LATE
def test_a_posting_that_no_balance_takes_is_found(
    commit_ms: float | None, monkeypatch: Patch
) -> None:
    put_amounts = Memory.put_amounts

    def mutated(self: Memory, relation: Relation, rows: Iterable[Row]) -> None:
        put_amounts(self, relation, [row for row in rows if not row[0].startswith("meter/")])

    def restate(manager: SimManager) -> None:
        monkeypatch.setattr(Memory, "put_amounts", mutated)
        manager.app.restate_opening("main", 2_000_000)

    found = found_after(restate, commit_ms)
    assert "balances ('meter/main/" in found
    assert "stayed" in found


def test_memory_that_is_changed_between_two_steps_is_found_by_the_next() -> None:
    def act(manager: SimManager) -> None:
        memory: Any = manager.app.store._memory
        memory._held[COUNTERS.name][("touch-1",)] = ROW
        manager.app.book.alarms.record("TEST", "Another step.")

    assert "in memory" in found_after(act)


def test_what_is_kept_otherwise_than_told_is_found(monkeypatch: Patch) -> None:
    commit = SqliteEngine.commit

    def mutated(self: SqliteEngine, batch: Any) -> None:
        commit(self, batch)
        if COUNTERS.name in batch.rows:
            self.connection.execute("UPDATE table_counters SET wager_count = 2")

    monkeypatch.setattr(SqliteEngine, "commit", mutated)
    assert "as a start would load it" in found_after(count)


def test_what_is_kept_otherwise_beside_the_commits_is_found_after_some_more(
    monkeypatch: Patch,
) -> None:
    """Mutation: only what a commit wrote is ever read again."""
    commit = SqliteEngine.commit

    def mutated(self: SqliteEngine, batch: Any) -> None:
        commit(self, batch)
        self.connection.execute("UPDATE table_counters SET wager_count = 2")

    def act(manager: SimManager) -> None:
        count(manager)
        monkeypatch.setattr(SqliteEngine, "commit", mutated)
        for _ in range(READ_ALL_EVERY_COMMITS):
            manager.app.book.alarms.record("TEST", "Another step.")

    assert "as a start would load it" in found_after(act)
