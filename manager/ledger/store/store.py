"""The books of a manager that writes them: entries, balances, and batches made durable.

Steps of one batch become durable together, and a step outside a batch by itself. With a writer
beside the loop memory runs ahead: whoever lets something out waits for what it rests on. It guards
that no money held for players goes below zero. A commit that fails for good ends all writing. Why
an entry is made, and what an award is worth, is decided by `book`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from manager.ledger.errors import LedgerError, StoreError
from manager.ledger.store import accounts
from manager.ledger.store.chain import Recorded, genesis, next_digest
from manager.ledger.store.engine import Batch, Engine, OutcomeUnknown, StorageFailed, Tail
from manager.ledger.store.entries import Entry, Posting
from manager.ledger.store.memory import Memory
from manager.ledger.store.relations import BALANCES, POSTINGS, TRANSACTIONS, Row
from manager.ledger.store.steps import Steps, row_of
from manager.ledger.store.writer import Writer
from manager.money import text_from_microcents

_Then = Callable[[StorageFailed | None], None]


class Store(Steps):
    """One open ledger that is written by this process, shared by all of its repositories."""

    def __init__(self, engine: Engine, clock_ms: Callable[[], int], path: str = "") -> None:
        if engine.acquire() is None:
            raise StoreError(f"The ledger {path} is in use by another process.")
        self.engine = engine
        self._is_batch = False
        self._failure = ""
        self._writer: Writer | None = None
        self._failed: Callable[[str], None] = _nobody
        self._under_way: Batch | None = None  # with the writer
        self._waiting: list[tuple[int, _Then]] = []  # each for a transaction's number
        try:
            self._load(clock_ms)
        except StorageFailed as error:
            engine.close()
            raise StoreError(f"The ledger cannot be read: {error}.") from error
        except StoreError:
            engine.close()
            raise

    def _load(self, clock_ms: Callable[[], int]) -> None:
        loaded = self.engine.load()
        self._genesis = genesis(loaded.ledger_id)
        self._durable = loaded.tail or Tail(0, self._genesis)
        memory = Memory(self.engine, loaded)
        super().__init__(self.engine.reader(), memory, self._durable, clock_ms)
        self._check_tail()

    def commit_beside(self, writer: Writer, failed: Callable[[str], None]) -> None:
        """From now on commits run with the writer; `failed` hears when one fails for good."""
        self._writer, self._failed = writer, failed

    @property
    def durable_number(self) -> int:
        """The newest transaction that a power cut cannot lose."""
        return self._durable.number

    def when_durable(self, then: Callable[[], None]) -> None:
        """Calls it once every step so far is durable: now, if they are, and never if that fails."""
        self._await(self._tail.number, lambda failure: None if failure else then())

    async def durable(self, number: int | None = None) -> None:
        """Returns when this transaction is durable, by default the newest; raises if it fails."""
        wanted = self._tail.number if number is None else number
        if wanted <= self._durable.number:
            return
        end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._await(wanted, partial(_end, end))
        await end

    def flush(self) -> None:
        """Returns when every step so far is durable, and blocks until then."""
        while self._writer is not None and self._under_way is not None:
            self._writer.wait()
        self._begin()
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

    def append(self, entry: Entry) -> int:
        """Adds one transaction with its postings to the step and returns its number."""
        entry.check()
        if not self._depth:
            with self.transaction():
                return self.append(entry)
        amounts = [self._balance_after(posting) for posting in entry.postings]
        # Nothing is refused from here on, so that half an entry can never stand.
        number = self._next_number
        recorded = Recorded(
            number,
            str(entry.kind),
            entry.reference,
            entry.sentence,
            entry.detail_text(),
            self.now_ms,
            entry.origin,
            entry.postings,
        )
        self._entries.append(recorded)
        put = self._memory.put
        put(TRANSACTIONS, row_of(recorded, b""), said=False)
        for position, (account, moved) in enumerate(entry.postings, start=1):
            put(POSTINGS, (number, position, account, moved), said=False)
            put(BALANCES, (account, amounts[position - 1]), said=False)
        return number

    def each(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Rows by SQL, which sees what is durable: the steps before this one become so first.

        What the step under way has changed itself it reads by `find` and `get`.
        """
        if self._is_batch or self._writer is not None:
            self.flush()
        return super().each(query, values)

    def durable_tail(self) -> Tail:
        """Where the chain ends for good: what may be told outside of this process."""
        return self._durable

    def genesis(self) -> bytes:
        return self._genesis

    def balance(self, account: str) -> int:
        found = self._memory.get(BALANCES, account)
        return int(found[1]) if found else 0

    def balances(self) -> dict[str, int]:
        return dict(self._memory.find(BALANCES, {}))

    def close(self) -> None:
        if self._writer is not None:
            with suppress(StorageFailed):  # whoever waits was told so
                self.flush()
            self._writer.close()
        super().close()
        self.engine.close()

    # -- inside ------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._failure:
            raise StorageFailed(self._failure)

    def _done(self) -> None:
        if not self._is_batch:
            self._commit()

    def _commit(self) -> None:
        if self._writer is None:
            self._commit_here()
        elif self._under_way is None:
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
        return Batch(self._durable, self._tail, rows) if rows else None

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

    def _write(self, batch: Batch) -> None:
        while True:
            try:
                self.engine.commit(batch)
                return
            except OutcomeUnknown:
                if self.engine.resolve(batch):
                    return

    def _balance_after(self, posting: Posting) -> int:
        amount = self.balance(posting.account) + posting.amount_microcents
        if amount < 0 and accounts.is_custody(posting.account):
            raise LedgerError(
                f"{posting.account} would be overdrawn to {text_from_microcents(amount)}."
            )
        return amount

    def _check_tail(self) -> None:
        """A quick look at the newest transaction; the whole chain is for `audit`."""
        number, digest = self._tail
        if number == 0:
            return
        found = list(self.recorded(max(1, number - 1)))
        before = found[-2][1] if number > 1 and len(found) > 1 else self._genesis
        recorded = found[-1][0]
        if next_digest(before, recorded) != digest:
            raise StoreError(f"Ledger transaction {number} does not match its digest.")
        self._last_ms = recorded.commit_ms


def _nobody(reason: str) -> None:
    """Hears of a failed commit where the exception itself is heard."""


def _end(waiter: asyncio.Future[None], failure: StorageFailed | None) -> None:
    if waiter.done():  # whoever waited was cancelled
        return
    if failure is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(failure)
