"""Commits: how steps that stand become durable, and who waits for that.

Steps of one batch become durable together, and a step outside a batch by itself. With a writer
beside the loop memory runs ahead: whoever lets something out waits for what it rests on. A commit
that fails for good ends all writing. What a step is, and what is in it, is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from manager.ledger.engines.engine import Batch, Engine, OutcomeUnknown, StorageFailed, Tail
from manager.ledger.store.memory import Memory
from manager.ledger.store.writer import Writer

_Then = Callable[[StorageFailed | None], None]


class Commits:
    """Hands what stands in memory to the engine, in batches, one at a time and in order."""

    def __init__(self, engine: Engine, memory: Memory, tail: Tail) -> None:
        self._engine = engine
        self._memory = memory
        self._standing = tail  # of the newest step that stands in memory
        self._durable = tail
        self._is_batch = False
        self._failure = ""
        self._writer: Writer | None = None
        self._failed: Callable[[str], None] = _nobody
        self._under_way: Batch | None = None  # with the writer
        self._waiting: list[tuple[int, _Then]] = []  # each for a transaction's number

    def beside(self, writer: Writer, failed: Callable[[str], None]) -> None:
        """From now on commits run with the writer; `failed` hears when one fails for good."""
        self._writer, self._failed = writer, failed

    @property
    def durable_tail(self) -> Tail:
        """Where the chain ends for good: what a power cut cannot lose, and others may be told."""
        return self._durable

    @property
    def may_lag(self) -> bool:
        """Whether memory may hold steps that are not durable yet."""
        return self._is_batch or self._writer is not None

    def when_durable(self, then: Callable[[], None], number: int | None = None) -> None:
        """Calls it once this transaction is durable, by default the newest; never if that fails."""
        wanted = self._standing.number if number is None else number
        self._await(wanted, lambda failure: None if failure else then())

    async def until_durable(self, number: int | None = None) -> None:
        """Returns when this transaction is durable, by default the newest; raises if it fails."""
        wanted = self._standing.number if number is None else number
        end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._await(wanted, partial(_end, end))
        await end

    def flush(self) -> None:
        """Returns when every step so far is durable, and blocks until then."""
        while self._writer is not None and self._under_way is not None:
            self._writer.wait()
        self.check()
        self._commit_here()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """The steps in here become durable together at its end, or soon after it with a writer."""
        assert not self._is_batch, "a batch has no batch in it"
        self._is_batch = True
        try:
            yield
        except BaseException:
            # A step in the middle broke: nobody knows what the ones before it are worth.
            self._failure = self._failure or "a batch was not finished"
            raise
        finally:
            self._is_batch = False
        self._commit()

    def close(self) -> None:
        if self._writer is not None:
            with suppress(StorageFailed):  # whoever waits was told so
                self.flush()
            self._writer.close()

    # -- for the steps ----------------------------------------------------------------------

    def check(self) -> None:
        """A step may begin, or an exception says why not."""
        if self._failure:
            raise StorageFailed(self._failure)

    def stands(self, tail: Tail) -> None:
        """A step ended here, and stands in memory."""
        self._standing = tail
        if not self._is_batch:
            self._commit()

    # -- inside -----------------------------------------------------------------------------

    def _commit(self) -> None:
        if self._writer is None:
            self._commit_here()
        elif self._under_way is None and not self._failure:
            self._hand_over(self._writer)

    def _commit_here(self) -> None:
        batch = self._taken()
        if batch is None:
            return
        try:
            self._write(batch)
        except BaseException as error:
            self._fail(error)
            raise
        self._settle(batch)

    def _hand_over(self, writer: Writer) -> None:
        """What the writer gets is not touched here until it is done."""
        batch = self._under_way = self._taken()
        if batch is not None:
            writer.submit(partial(self._write, batch), partial(self._written, batch))

    def _written(self, batch: Batch, error: BaseException | None) -> None:
        self._under_way = None
        if error is not None:
            self._fail(error)
            self._failed(self._failure)
            return
        self._settle(batch)
        if not self._failure and not self._is_batch and self._writer is not None:
            self._hand_over(self._writer)  # what stands meanwhile

    def _taken(self) -> Batch | None:
        rows = self._memory.take_pending()
        return Batch(self._durable, self._standing, rows) if rows else None

    def _write(self, batch: Batch) -> None:
        while True:
            try:
                self._engine.commit(batch)
                return
            except OutcomeUnknown:
                if self._engine.resolve(batch):
                    return

    def _settle(self, batch: Batch) -> None:
        self._durable = batch.newest
        self._memory.settle(batch.rows)
        waiting, self._waiting = self._waiting, []
        self._waiting = [each for each in waiting if each[0] > batch.newest.number]
        for number, then in waiting:
            if number <= batch.newest.number:
                then(None)

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or str(error) or type(error).__name__
        waiting, self._waiting = self._waiting, []
        for _, then in waiting:
            then(StorageFailed(self._failure))

    def _await(self, number: int, then: _Then) -> None:
        if number <= self._durable.number:
            then(None)
        elif self._failure:
            then(StorageFailed(self._failure))
        else:
            self._waiting.append((number, then))


def _nobody(reason: str) -> None:
    """Hears of a failed commit where the exception itself is heard."""


def _end(waiter: asyncio.Future[None], failure: StorageFailed | None) -> None:
    if waiter.done():  # whoever waited was cancelled
        return
    if failure is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(failure)
