"""A connection to a ledger's file that can change nothing, and the archives beside it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import apsw

from manager.ledger.engines.archives import Archive
from manager.ledger.engines.engine import NEVER, Part, Rows, StorageFailed
from manager.ledger.engines.relations import Row

_log = logging.getLogger(__name__)

READERS_PATIENCE_MS = 5000  # a reader waits this long for a checkpoint to let it in


class SqliteReader:
    """A read-only connection of its own."""

    def __init__(self, connection: apsw.Connection, archives: Sequence[Archive] = ()) -> None:
        self._connection = connection
        self._archives = list(archives)

    def parts(self) -> list[Part]:
        older = [
            Part(self.rows, f"archive_{number}.", each.first, each.last)
            for number, each in enumerate(self._archives, start=1)
        ]
        first = self._archives[-1].last + 1 if self._archives else 1
        return [*older, Part(self.rows, "main.", first, NEVER)]

    def sources(self) -> list[Rows]:
        return [self.rows]  # which sees attached archives, too

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        with as_storage_failures():
            yield from self._connection.execute(query, values)

    def damage(self) -> str:
        with as_storage_failures():
            for part in self.parts():
                schema = part.prefix.rstrip(".")
                verdict = str(self._connection.pragma("integrity_check", 1, schema=schema))
                if verdict != "ok":
                    return verdict
        return ""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with as_storage_failures():
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            with as_storage_failures():
                self._connection.execute("COMMIT")

    def close(self) -> None:
        close(self._connection)


class SameConnection(SqliteReader):
    """Where there can be no other connection: the writer's own, which its engine closes."""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # nobody writes while the one thread reads

    def close(self) -> None:
        """Its engine does that."""


_READ_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


def opened(path: str, vfs: str | None, flags: int = _READ_WRITE) -> apsw.Connection:
    return apsw.Connection(path, flags=flags, vfs=vfs)


def opened_to_read(path: str) -> apsw.Connection:
    """Beside whoever writes; it waits a while where it finds the file locked."""
    if _is_still(path):
        address = f"{Path(path).absolute().as_uri()}?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return opened(address, None, flags)
    connection = opened(path, None, apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(READERS_PATIENCE_MS)
    return connection


def _is_still(path: str) -> bool:
    """True for a whole file on a medium that takes no writing, such as an auditor's copy.

    SQLite would make files beside it otherwise, to read what a log holds; here there is no log.
    """
    if not os.path.exists(path) or os.access(os.path.dirname(path) or ".", os.W_OK):
        return False
    log = Path(f"{path}-wal")
    return not log.exists() or log.stat().st_size == 0


def close(connection: apsw.Connection) -> None:
    try:
        connection.close(force=True)
    except apsw.Error as error:
        _log.warning("The ledger's file could not be tidied up when closing: %s", error)


@contextmanager
def as_storage_failures() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        _fail(error)


def _fail(error: apsw.Error) -> NoReturn:
    raise StorageFailed(str(error)) from error
