"""The database of identities: shared by the serving process and the operator's commands.

Small, seldom written and durable at every commit; a rollback journal lets several processes use it
without more. What the rows mean is known to `registry` and `desk`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, NamedTuple

import apsw

from manager.identity.errors import IdentityError

SCHEMA_VERSION = 1
APPLICATION_ID = 0x55464944  # "UFID"
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
            self._prepare(path)
        self._seen_version = self._version()

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

    def changed_elsewhere(self) -> bool:
        """True once after another process has written."""
        version = self._version()
        changed, self._seen_version = version != self._seen_version, version
        return changed

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

    def _version(self) -> int:
        with _in_words():
            return int(self._connection.pragma("data_version"))

    def _prepare(self, path: str) -> None:
        connection = self._connection
        connection.set_busy_timeout(BUSY_MAX_MS)
        connection.pragma("synchronous", "full")
        # A transaction begins as a writer's: two that read first could not both go on to write.
        connection.transaction_mode = "IMMEDIATE"
        with connection:
            if connection.pragma("user_version") == 0:
                connection.execute(files(__package__).joinpath("schema.sql").read_text("utf-8"))
                connection.pragma("application_id", APPLICATION_ID)
                connection.pragma("user_version", SCHEMA_VERSION)
        version = connection.pragma("user_version")
        if connection.pragma("application_id") != APPLICATION_ID or version != SCHEMA_VERSION:
            raise IdentityError(f"{path} is not a list of identities of version {SCHEMA_VERSION}.")


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise IdentityError(f"The list of identities cannot be used: {error}.") from error
