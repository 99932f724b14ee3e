"""Appends to and reads from the ledger: numbers, digests, balances.

The only writer of `transactions`, `postings` and `balances`, and the guard that no money held for
players goes below zero. Why an entry is made, and what an award is worth, is decided by `book`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any

import apsw

from manager.ledger import accounts
from manager.ledger.chain import Recorded, genesis, next_digest
from manager.ledger.database import close_database, copied
from manager.ledger.entries import Entry, Origin, Posting, Reference
from manager.ledger.errors import LedgerError, StoreError
from manager.money import text_from_microcents

_RECORDED = (
    "SELECT t.number, t.kind, t.table_id, t.round_number, t.sensor, t.claim_number, t.sentence,"
    " t.detail, t.commit_ms, t.unit_id, t.event_sequence, t.event_monotonic_ms, t.event_wall_ms,"
    " t.event_digest, t.digest, p.account, p.amount_microcents"
    " FROM transactions t LEFT JOIN postings p ON p.transaction_number = t.number"
)
_IN_ORDER = " ORDER BY t.number, p.position"


class Store:
    """One open ledger. Its one connection is shared by all of the manager's repositories."""

    def __init__(
        self, connection: apsw.Connection, now_ms: Callable[[], int], check_tail: bool = True
    ) -> None:
        self._connection = connection
        self._now_ms = now_ms
        if check_tail:
            self._check_tail_or_close()

    @property
    def now_ms(self) -> int:
        return self._now_ms()

    def transaction(self) -> AbstractContextManager[Any]:
        """All or nothing; inside another one, all or nothing of the inner part."""
        return self._connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._connection.execute(statement, values)

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(query, values))

    def row(self, query: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        found = self.rows(query, values)
        return found[0] if found else None

    def copied(self, path: str) -> Iterator[None]:
        """Copies the ledger to a new file, a little more each time it is asked."""
        return copied(self._connection, path)

    def close(self) -> None:
        close_database(self._connection)

    def append(self, entry: Entry) -> int:
        """Writes one transaction with its postings and returns its number."""
        entry.check()
        number, previous = self.tail()
        recorded = Recorded(
            number + 1,
            str(entry.kind),
            entry.reference,
            entry.sentence,
            entry.detail_text(),
            self.now_ms,
            entry.origin,
            entry.postings,
        )
        with self.transaction():
            self._write(recorded, next_digest(previous, recorded))
            for posting in entry.postings:
                self._add_to_balance(posting)
        return recorded.number

    def tail(self) -> tuple[int, bytes]:
        """The newest transaction's number and digest; 0 and the genesis digest at first."""
        found = self.row("SELECT number, digest FROM transactions ORDER BY number DESC LIMIT 1")
        return (found[0], found[1]) if found else (0, self.genesis())

    def genesis(self) -> bytes:
        found = self.row("SELECT value FROM meta WHERE key = 'ledger_id'")
        if found is None:
            raise StoreError("The ledger has lost its own identity.")
        return genesis(found[0])

    def balance(self, account: str) -> int:
        found = self.row("SELECT amount_microcents FROM balances WHERE account = ?", (account,))
        return int(found[0]) if found else 0

    def balances(self) -> dict[str, int]:
        return dict(self.rows("SELECT account, amount_microcents FROM balances"))

    def recorded(self, first: int = 1, last: int | None = None) -> Iterator[tuple[Recorded, bytes]]:
        """Transactions with their stored digests, oldest first, without loading them all."""
        where = " WHERE t.number >= ?" + (" AND t.number <= ?" if last is not None else "")
        bounds = (first,) if last is None else (first, last)
        cursor = self._connection.execute(_RECORDED + where + _IN_ORDER, bounds)
        for _, group in groupby(cursor, key=lambda row: row[0]):
            yield _recorded(list(group))

    def _check_tail_or_close(self) -> None:
        """A ledger that is refused is let go, so that a person can look at the file."""
        try:
            self._check_tail()
        except apsw.Error as error:
            self.close()
            raise StoreError(f"The ledger cannot be read: {error}.") from error
        except StoreError:
            self.close()
            raise

    def _check_tail(self) -> None:
        """A quick look at the newest transaction; the whole chain is for `audit`."""
        number, digest = self.tail()
        if number == 0:
            return
        before = self.row("SELECT digest FROM transactions WHERE number = ?", (number - 1,))
        ((recorded, _),) = self.recorded(number)
        if next_digest(before[0] if before else self.genesis(), recorded) != digest:
            raise StoreError(f"Ledger transaction {number} does not match its digest.")

    def _write(self, recorded: Recorded, digest: bytes) -> None:
        reference, origin = recorded.reference, recorded.origin
        self.execute(
            "INSERT INTO transactions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                recorded.number,
                recorded.kind,
                reference.table_id,
                reference.round_number,
                reference.sensor,
                reference.claim_number,
                recorded.sentence,
                recorded.detail_text,
                recorded.commit_ms,
                origin.unit_id,
                origin.sequence,
                origin.monotonic_ms,
                origin.wall_ms,
                origin.digest,
                digest,
            ),
        )
        for position, posting in enumerate(recorded.postings, start=1):
            self.execute(
                "INSERT INTO postings VALUES (?,?,?,?)",
                (recorded.number, position, posting.account, posting.amount_microcents),
            )

    def _add_to_balance(self, posting: Posting) -> None:
        amount = self.balance(posting.account) + posting.amount_microcents
        if amount < 0 and accounts.is_custody(posting.account):
            raise LedgerError(
                f"{posting.account} would be overdrawn to {text_from_microcents(amount)}."
            )
        self.execute(
            "INSERT INTO balances VALUES (?, ?) ON CONFLICT (account)"
            " DO UPDATE SET amount_microcents = excluded.amount_microcents",
            (posting.account, amount),
        )


def _recorded(rows: list[tuple[Any, ...]]) -> tuple[Recorded, bytes]:
    number, kind, table_id, round_number, sensor, claim_number, sentence, detail = rows[0][:8]
    commit_ms, unit_id, sequence, monotonic_ms, wall_ms, event_digest, digest = rows[0][8:15]
    return (
        Recorded(
            number,
            kind,
            Reference(table_id, round_number, sensor, claim_number),
            sentence,
            detail,
            commit_ms,
            Origin(unit_id, sequence, monotonic_ms, wall_ms, event_digest),
            tuple(Posting(row[15], row[16]) for row in rows if row[15] is not None),
        ),
        digest,
    )
