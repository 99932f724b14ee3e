"""The database of identities, beside the ledger: whoever has the ledger's lock may write it.

Small, seldom written and durable at every commit. What the rows mean is known to `registry` and
`enrolments`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import apsw

from kit.migrations import Format, FormatRefused, statements
from manager.identity.errors import IdentityError

# "UFID"
FORMAT = Format("The list of identities", 0x55464944, (statements(__package__, "schema.sql"),))
BUSY_MAX_MS = 5_000


class Note(NamedTuple):
    """One line of the log: what happened to an identity."""

    number: int
    at_ms: int
    code: str
    unit_id: str
    table_id: str
    sentence: str


class IdentityStore:
    def __init__(self, path: str, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        with _in_words():
            self._connection = apsw.Connection(path)
            self._prepare()

    @property
    def now_ms(self) -> int:
        return self._now_ms()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with _in_words(), self._connection:
            yield

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        with _in_words():
            self._connection.execute(statement, values)

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with _in_words():
            return list(self._connection.execute(query, values))

    def row(self, query: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        found = self.rows(query, values)
        return found[0] if found else None

    def note(self, code: str, sentence: str, unit_id: str = "", table_id: str = "") -> None:
        self.execute(
            "INSERT INTO log (at_ms, code, unit_id, table_id, sentence) VALUES (?, ?, ?, ?, ?)",
            (self.now_ms, code, unit_id, table_id, sentence),
        )

    def untold(self) -> list[Note]:
        """Notes that have not been told to the operators' alarms yet, oldest first."""
        query = "SELECT * FROM log WHERE number > (SELECT number FROM told) ORDER BY number"
        return [Note(*row) for row in self.rows(query)]

    def told(self, number: int) -> None:
        self.execute("UPDATE told SET number = ?", (number,))

    def close(self) -> None:
        self._connection.close()

    def _prepare(self) -> None:
        connection = self._connection
        connection.set_busy_timeout(BUSY_MAX_MS)  # a backup may be reading
        connection.pragma("synchronous", "full")
        with connection:
            if connection.pragma("user_version") == 0:
                FORMAT.create(connection)
            FORMAT.check(connection)
            FORMAT.upgrade(connection)


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except FormatRefused as refused:
        raise IdentityError(str(refused)) from refused
    except apsw.Error as error:
        # A full disk ends the transaction by itself; that it cannot be ended again is no news.
        first: BaseException = error
        while isinstance(first.__context__, (apsw.Error, IdentityError)):
            first = first.__context__
        raise IdentityError(f"The list of identities cannot be used: {first}.") from error
