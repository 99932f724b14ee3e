"""When what stands in memory becomes durable, and who is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from manager.ledger.engines.engine import Batch, OutcomeUnknown, StorageFailed, Tail
from manager.ledger.store.commits import Commits
from manager.ledger.store.writer import Done, Work

START = Tail(4, b"four")


def tail(number: int) -> Tail:
    return Tail(number, b"%d" % number)


class PretendEngine:
    """Notes what it commits; `troubles` are raised first, one at each commit."""

    def __init__(self) -> None:
        self.committed: list[tuple[int, int]] = []  # from which transaction to which
        self.tries = 0
        self.troubles: list[Exception] = []
        self.has_it = False

    def commit(self, batch: Batch) -> None:
        self.tries += 1
        if self.troubles:
            raise self.troubles.pop(0)
        self.committed.append((batch.previous.number, batch.newest.number))

    def resolve(self, batch: Batch) -> bool:
        return self.has_it


class PretendMemory:
    def __init__(self) -> None:
        self.pending: dict[str, dict[tuple[int], tuple[int]]] = {}
        self.settled: list[tuple[int, ...]] = []

    def take_pending(self) -> dict[str, dict[tuple[int], tuple[int]]]:
        taken, self.pending = self.pending, {}
        return taken

    def settle(self, rows: dict[str, dict[tuple[int], tuple[int]]]) -> None:
        self.settled.append(tuple(key[0] for key in rows["transactions"]))


class PretendWriter:
    """Holds each commit until somebody waits for it."""

    def __init__(self) -> None:
        self.under_way: tuple[Work, Done] | None = None
        self.is_closed = False

    def submit(self, work: Work, done: Done) -> None:
        assert self.under_way is None, "one commit at a time"
        self.under_way = work, done

    def wait(self) -> None:
        if self.under_way is None:
            return
        (work, done), self.under_way = self.under_way, None
        try:
            work()
        except StorageFailed as error:
            done(error)
        else:
            done(None)

    def close(self) -> None:
        self.is_closed = True


class Case:
    def __init__(self, beside: bool = False) -> None:
        self.engine, self.memory, self.writer = PretendEngine(), PretendMemory(), PretendWriter()
        self.commits = Commits(self.engine, self.memory, START)  # type: ignore[arg-type]
        self.failures: list[str] = []
        self.told: list[str] = []
        if beside:
            self.commits.beside(self.writer, self.failures.append)

    def step(self, number: int) -> None:
        self.commits.check()
        self.memory.pending.setdefault("transactions", {})[number,] = (number,)
        self.commits.stands(tail(number))

    def break_batch(self, first: Callable[[], None]) -> None:
        with self.commits.batch():
            first()
            raise ZeroDivisionError

    def note(self, name: str) -> Callable[[], None]:
        return lambda: self.told.append(name)

    @property
    def committed(self) -> list[tuple[int, int]]:
        return self.engine.committed

    def fails(self, sentence: str = "disk full") -> None:
        self.engine.troubles = [StorageFailed(sentence)]


# -- without a writer -----------------------------------------------------------------------


def test_a_step_of_its_own_is_durable_when_it_stands() -> None:
    """Catches: a bet that is acknowledged while a power cut could still lose it."""
    case = Case()
    assert case.commits.durable_tail == START
    assert not case.commits.may_lag
    case.step(5)
    assert (case.committed, case.commits.durable_tail) == ([(4, 5)], tail(5))
    assert case.memory.settled == [(5,)]
    case.step(6)
    assert case.committed == [(4, 5), (5, 6)]


def test_steps_of_a_batch_become_durable_together_at_its_end() -> None:
    """Catches: half of a frame's events in the books after a power cut."""
    case = Case()
    with case.commits.batch():
        case.step(5)
        case.step(6)
        assert case.commits.may_lag
        assert case.committed == []
        assert case.commits.durable_tail == START
    assert case.committed == [(4, 6)]
    assert not case.commits.may_lag


def test_a_batch_without_a_step_commits_nothing() -> None:
    case = Case()
    with case.commits.batch():
        pass
    case.commits.flush()
    assert case.engine.tries == 0
    assert case.memory.settled == []


def test_a_batch_that_broke_ends_all_writing() -> None:
    """Catches: a manager that goes on booking after steps of which nobody knows the worth."""
    case = Case()
    with pytest.raises(ZeroDivisionError):
        case.break_batch(lambda: case.step(5))
    assert case.committed == []
    assert not case.commits.may_lag
    with pytest.raises(StorageFailed, match="a batch was not finished"):
        case.step(6)


def test_the_first_failure_is_the_one_that_is_told() -> None:
    case = Case(beside=True)
    case.fails()
    case.step(5)
    with pytest.raises(ZeroDivisionError):
        case.break_batch(case.writer.wait)
    with pytest.raises(StorageFailed, match="disk full"):
        case.commits.check()


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [(StorageFailed("disk full"), "disk full"), (StorageFailed(), "StorageFailed")],
)
def test_a_commit_that_fails_is_heard_and_ends_all_writing(
    trouble: StorageFailed, sentence: str
) -> None:
    """Catches: bets booked in memory alone after the disk refused one, and a silent reason."""
    case = Case()
    case.engine.troubles = [trouble]
    with pytest.raises(StorageFailed):
        case.step(5)
    assert case.commits.durable_tail == START
    with pytest.raises(StorageFailed, match=sentence):
        case.commits.check()


@pytest.mark.parametrize(("has_it", "tries"), [(True, 1), (False, 2)])
def test_a_commit_without_an_answer_is_made_again_only_where_it_was_not_made(
    has_it: bool, tries: int
) -> None:
    """Catches: a batch lost, or booked twice, because the answer to it was lost."""
    case = Case()
    case.engine.troubles, case.engine.has_it = [OutcomeUnknown("no answer")], has_it
    case.step(5)
    assert case.engine.tries == tries
    assert case.commits.durable_tail == tail(5)


# -- with a writer beside -------------------------------------------------------------------


def test_steps_that_stand_while_a_commit_is_under_way_go_with_the_next_one() -> None:
    """Catches: two commits at once, and steps that wait for the bet after them."""
    case = Case(beside=True)
    assert case.commits.may_lag
    for number in (5, 6, 7):
        case.step(number)
    assert case.committed == []
    case.writer.wait()
    assert case.committed == [(4, 5)]
    assert case.commits.durable_tail == tail(5)
    case.writer.wait()
    assert case.committed == [(4, 5), (5, 7)]
    assert case.memory.settled == [(5,), (6, 7)]
    assert case.writer.under_way is None, "nothing is left"
    case.step(8)
    case.writer.wait()
    assert case.committed[-1] == (7, 8)


def test_a_commit_that_ends_inside_a_batch_does_not_take_half_of_it() -> None:
    """Catches: the first of two events of a frame durable without the second."""
    case = Case(beside=True)
    case.step(5)
    with case.commits.batch():
        case.step(6)
        case.writer.wait()
        assert case.committed == [(4, 5)]
        assert case.writer.under_way is None
        case.step(7)
    case.writer.wait()
    assert case.committed == [(4, 5), (5, 7)]


def test_a_commit_beside_that_fails_is_told_once_and_nothing_follows_it() -> None:
    """Catches: a manager that goes on in memory while its writer has given up."""
    case = Case(beside=True)
    case.fails()
    case.step(5)
    case.step(6)
    case.writer.wait()
    assert case.failures == ["disk full"]
    assert case.committed == []
    assert case.writer.under_way is None
    with pytest.raises(StorageFailed, match="disk full"):
        case.step(7)
    with pytest.raises(StorageFailed, match="disk full"):
        case.commits.flush()


def test_after_a_broken_batch_the_writer_is_given_nothing_more() -> None:
    case = Case(beside=True)
    case.step(5)
    with pytest.raises(ZeroDivisionError):
        case.break_batch(lambda: case.step(6))
    case.writer.wait()
    assert (case.committed, case.writer.under_way) == ([(4, 5)], None)
    case.memory.pending = {"transactions": {(7,): (7,)}}
    case.commits.stands(tail(7))
    assert case.writer.under_way is None


def test_a_flush_waits_for_the_writer_and_commits_the_rest() -> None:
    """Catches: a snapshot or a shutdown without the newest bets."""
    case = Case(beside=True)
    with case.commits.batch():
        case.step(5)
        case.commits.flush()
        assert case.committed == [(4, 5)]
    for number in (6, 7):
        case.step(number)
    case.commits.flush()
    assert case.committed == [(4, 5), (5, 6), (6, 7)]
    assert case.commits.durable_tail == tail(7)


@pytest.mark.parametrize("is_broken", [False, True])
def test_closing_makes_the_newest_steps_durable_and_ends_the_writer(is_broken: bool) -> None:
    """Catches: bets lost by an orderly shutdown, and a writer left when the disk is full."""
    case = Case(beside=True)
    case.step(5)
    if is_broken:
        case.fails()
    case.commits.close()
    assert case.committed == ([] if is_broken else [(4, 5)])
    assert case.writer.is_closed


def test_without_a_writer_there_is_nothing_to_end() -> None:
    case = Case()
    case.step(5)
    case.commits.close()
    assert case.committed == [(4, 5)]


# -- who waits ------------------------------------------------------------------------------


def test_who_waits_is_told_when_that_transaction_is_durable_and_not_before() -> None:
    """Catches: an award told to a table that a power cut takes out of the books."""
    case = Case(beside=True)
    case.commits.when_durable(case.note("nothing new"))
    case.commits.when_durable(case.note("old"), 3)
    assert case.told == ["nothing new", "old"]
    case.told.clear()
    case.step(5)
    case.step(6)
    case.commits.when_durable(case.note("newest"))
    case.commits.when_durable(case.note("fifth"), 5)
    case.commits.when_durable(case.note("fourth"), 4)
    assert case.told == ["fourth"]
    case.writer.wait()
    assert case.told == ["fourth", "fifth"]
    case.writer.wait()
    assert case.told == ["fourth", "fifth", "newest"]


def test_nobody_is_told_that_a_failed_commit_is_durable() -> None:
    case = Case(beside=True)
    case.fails()
    case.step(5)
    case.commits.when_durable(case.note("before"))
    case.writer.wait()
    case.commits.when_durable(case.note("after"))
    case.commits.when_durable(case.note("durable since the start"), 4)
    assert case.told == ["durable since the start"]


def test_whoever_awaits_goes_on_when_it_is_durable_and_hears_of_a_failure() -> None:
    """Catches: an answer to a table before its event is durable, and one that never comes."""

    async def tried() -> None:
        case = Case(beside=True)
        await case.commits.until_durable()
        case.step(5)
        case.step(6)
        newest = asyncio.create_task(case.commits.until_durable())
        fifth = asyncio.create_task(case.commits.until_durable(5))
        await asyncio.sleep(0)
        case.writer.wait()
        await fifth
        assert not newest.done()
        case.writer.wait()
        await newest
        case.fails()
        case.step(7)
        seventh = asyncio.create_task(case.commits.until_durable())
        given_up = asyncio.create_task(case.commits.until_durable())
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        case.writer.wait()
        with pytest.raises(StorageFailed, match="disk full"):
            await seventh
        assert case.failures == ["disk full"], "one that was cancelled breaks nothing"
        with pytest.raises(StorageFailed, match="disk full"):
            await case.commits.until_durable()

    asyncio.run(asyncio.wait_for(tried(), 2))  # a lost answer fails, and does not hang
