"""Commits run beside the loop, and nothing is said to be durable before its commit has returned."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from manager.ledger.engines.engine import Batch, StorageFailed
from manager.ledger.engines.relations import ROUNDS
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.store.store import Store
from manager.ledger.store.writer import ThreadWriter
from tests.kit.pretend_units import Clock

NUMBERS = "SELECT number FROM rounds ORDER BY number"


def row(number: int, ended_ms: int = 0) -> tuple[object, ...]:
    return ("T1", number, "[]", "[]", 1, ended_ms)


class HeldUp:
    """A store whose commits, on a real thread, return when they are let go."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(SqliteEngine(str(folder / "ledger.sqlite")), Clock())
        self.failures: list[str] = []
        self.threads: set[int] = set()
        self.batches: list[Batch] = []
        self.broken = ""
        self.gate, self.entered = threading.Semaphore(0), threading.Semaphore(0)
        self._commit = self.store.engine.commit
        self.store.engine.commit = self._held_up  # type: ignore[method-assign]

    def _held_up(self, batch: Batch) -> None:
        self.threads.add(threading.get_ident())
        self.batches.append(batch)
        self.entered.release()
        self.gate.acquire()
        if self.broken:
            raise StorageFailed(self.broken)
        self._commit(batch)


def run(folder: Path, trial: Callable[[HeldUp], Awaitable[None]]) -> HeldUp:
    held = HeldUp(folder)

    async def tried() -> None:
        writer = ThreadWriter(asyncio.get_running_loop())
        held.store.commits.beside(writer, held.failures.append)
        await trial(held)
        held.gate.release(1000)
        held.store.close()

    asyncio.run(tried())
    return held


def test_the_loop_goes_on_while_a_commit_is_under_way(tmp_path: Path) -> None:
    async def trial(held: HeldUp) -> None:
        said: list[int] = []
        held.store.put(ROUNDS, row(1))
        held.store.commits.when_durable(lambda: said.append(1))
        held.entered.acquire()
        held.store.put(ROUNDS, row(2))  # memory goes on
        held.store.commits.when_durable(lambda: said.append(2))
        assert held.store.find(ROUNDS, {}) == [row(1), row(2)]
        waiting = asyncio.ensure_future(held.store.commits.until_durable())
        await asyncio.sleep(0)
        assert (said, held.store.commits.durable_tail.number, waiting.done()) == ([], 0, False)
        held.gate.release(1)
        await held.store.commits.until_durable(1)
        assert (said, held.store.commits.durable_tail.number) == ([1], 1)
        held.gate.release(1)
        await waiting
        assert (said, held.store.commits.durable_tail.number) == ([1, 2], 2)

    held = run(tmp_path, trial)
    assert len(held.threads) == 1
    assert threading.get_ident() not in held.threads
    assert [(each.previous.number, each.newest.number) for each in held.batches] == [(0, 1), (1, 2)]


def test_what_stands_during_a_commit_becomes_durable_together(tmp_path: Path) -> None:
    async def trial(held: HeldUp) -> None:
        held.store.put(ROUNDS, row(1))
        held.entered.acquire()
        for number in (2, 3, 4):
            held.store.put(ROUNDS, row(number))
        held.gate.release(2)
        await held.store.commits.until_durable()

    held = run(tmp_path, trial)
    assert [each.newest.number for each in held.batches] == [1, 4]


def test_memory_keeps_what_changed_again_during_its_commit(tmp_path: Path) -> None:
    """Catches: letting go of a row when an older value of it has become durable."""

    async def trial(held: HeldUp) -> None:
        held.store.put(ROUNDS, row(1))
        held.entered.acquire()
        held.store.update(ROUNDS, ("T1", 1), ended_ms=7)
        held.gate.release(1)
        await held.store.commits.until_durable(1)
        assert held.store.get(ROUNDS, "T1", 1) == row(1, 7)
        held.gate.release(1)
        await held.store.commits.until_durable()
        assert held.store.get(ROUNDS, "T1", 1) == row(1, 7)

    run(tmp_path, trial)


def test_a_commit_that_fails_is_told_and_nothing_that_rests_on_it_happens(tmp_path: Path) -> None:
    async def trial(held: HeldUp) -> None:
        said: list[int] = []
        held.store.put(ROUNDS, row(1))
        held.store.commits.when_durable(lambda: said.append(1))
        held.entered.acquire()
        held.store.put(ROUNDS, row(2))
        waiting = asyncio.ensure_future(held.store.commits.until_durable())
        await asyncio.sleep(0)
        held.broken = "the disk is gone"
        held.gate.release(1)
        with pytest.raises(StorageFailed, match="the disk is gone"):
            await waiting
        assert (said, held.failures) == ([], ["the disk is gone"])
        assert held.store.commits.durable_tail.number == 0, "nothing of it is durable"
        with pytest.raises(StorageFailed, match="the disk is gone"):
            held.store.put(ROUNDS, row(3))
        with pytest.raises(StorageFailed, match="the disk is gone"):
            await held.store.commits.until_durable()

    held = run(tmp_path, trial)
    assert len(held.batches) == 1


def test_sql_waits_for_the_steps_before_it(tmp_path: Path) -> None:
    async def trial(held: HeldUp) -> None:
        held.store.put(ROUNDS, row(1))
        held.entered.acquire()
        held.store.put(ROUNDS, row(2))
        held.gate.release(2)
        assert held.store.rows(NUMBERS) == [(1,), (2,)]
        assert held.store.commits.durable_tail.number == 2

    run(tmp_path, trial)


def test_closing_makes_durable_what_stands(tmp_path: Path) -> None:
    async def trial(held: HeldUp) -> None:
        for number in (1, 2):
            held.store.put(ROUNDS, row(number))

    run(tmp_path, trial)
    store = Store(SqliteEngine(str(tmp_path / "ledger.sqlite")), Clock())
    assert store.rows(NUMBERS) == [(1,), (2,)]
    store.close()


def test_who_waited_for_a_commit_is_told_of_it_once() -> None:
    """Catches: the loop telling it again afterwards, or failing at it."""
    told: list[BaseException | None] = []
    troubles: list[object] = []

    async def trial() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: troubles.append(context))
        writer = ThreadWriter(loop)
        writer.submit(lambda: None, told.append)
        writer.wait()
        assert told == [None]
        writer.wait()
        writer.close()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(trial())
    assert told == [None]
    assert troubles == []


def test_who_stopped_waiting_keeps_nobody_else_from_hearing(tmp_path: Path) -> None:
    """Catches: an answer to somebody who was cancelled, which fails and ends the list."""

    async def trial(held: HeldUp) -> None:
        held.store.put(ROUNDS, row(1))
        waiting = [asyncio.ensure_future(held.store.commits.until_durable()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        held.gate.release(1)
        await asyncio.wait_for(waiting[1], 10)  # a bound for the day when nobody tells it
        assert waiting[0].cancelled()

    run(tmp_path, trial)
