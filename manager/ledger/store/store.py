"""The books of a manager that writes them: entries and balances.

It guards that no money held for players goes below zero. When a step becomes durable is up to
`commits`. Why an entry is made, and what an award is worth, is decided by `book`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from manager.ledger.engines.engine import Engine, Rows, StorageFailed, Tail
from manager.ledger.engines.relations import BALANCES, Row
from manager.ledger.errors import LedgerError, LedgerInUse, StoreError
from manager.ledger.store import accounts
from manager.ledger.store.chain import Recorded, genesis, next_digest
from manager.ledger.store.commits import Commits
from manager.ledger.store.entries import Entry
from manager.ledger.store.memory import Memory
from manager.ledger.store.steps import Steps
from manager.money import text_from_microcents

_tuple = tuple.__new__


class Store(Steps):
    """One open ledger that is written by this process, shared by all of its repositories."""

    def __init__(self, engine: Engine, clock_ms: Callable[[], int], path: str = "") -> None:
        if engine.acquire() is None:
            raise LedgerInUse(f"The ledger {path} is in use by another process.")
        self.engine = engine
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
        memory = Memory(self.engine, loaded)
        self.commits = Commits(self.engine, memory, loaded.tail or Tail(0, self._genesis))
        super().__init__(self.engine.reader(), memory, self.commits, clock_ms)
        self._check_tail()

    def append(self, entry: Entry) -> int:
        """Adds one transaction with its postings to the step and returns its number."""
        if not self._depth:
            with self.transaction():
                return self.append(entry)
        entry.check()
        kind, reference, sentence, postings, origin, _ = entry
        balances = [(account, self._balance_after(account, moved)) for account, moved in postings]
        # Nothing is refused from here on, so that half an entry can never stand.
        number = self._next_number
        said = (number, str(kind), reference, sentence, entry.detail_text(), self.now_ms)
        self._entries.append(_tuple(Recorded, (*said, origin, postings, b"")))
        self._memory.put_amounts(BALANCES, balances)
        return number

    def each(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Rows by SQL, which sees what is durable: the steps before this one become so first.

        What the step under way has changed itself it reads by `find` and `get`.
        """
        if self.commits.may_lag:
            self.commits.flush()
        return super().each(query, values)

    def _sources(self) -> Sequence[Rows]:
        if self.commits.may_lag:
            self.commits.flush()
        return super()._sources()

    def genesis(self) -> bytes:
        return self._genesis

    def balance(self, account: str) -> int:
        return self._memory.amount(BALANCES, (account,))

    def balances(self) -> dict[str, int]:
        return dict(self._memory.find(BALANCES, {}))

    def close(self) -> None:
        self.commits.close()
        super().close()
        self.engine.close()

    # -- inside ------------------------------------------------------------------------------

    def _balance_after(self, account: str, moved_microcents: int) -> int:
        amount = self._memory.amount(BALANCES, (account,)) + moved_microcents
        if amount < 0 and accounts.is_custody(account):
            raise LedgerError(f"{account} would be overdrawn to {text_from_microcents(amount)}.")
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
        self.last_commit_ms = recorded.commit_ms
