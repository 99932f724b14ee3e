"""The journal's connection to its file, and what a failure of it means.

After any fault of the disk the journal stays faulty until it is opened again: nobody can say what a
failed sync left behind, so nothing is ever tried twice. What is written and read is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

import apsw

from controller.journal import file
from controller.journal.file import JournalFault


class JournalDisk:
    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._fault: str | None = None  # why nothing more may be trusted

    def transaction(self) -> _Transaction:
        """Commits at the end; any failure of the file makes the journal faulty for good."""
        return _Transaction(self)

    def rows(self, statement: str, bindings: tuple[int, ...] = ()) -> list[Any]:
        try:
            return self.connection.execute(statement, bindings).fetchall()
        except apsw.Error as error:
            raise self.latched(f"The journal cannot be read: {error}.") from error

    def value(self, statement: str) -> Any:
        rows = self.rows(statement)
        if len(rows) != 1:
            raise self.latched("The journal's file lacks a row that it must have.")
        return rows[0][0]

    def refuse_if_faulty(self) -> None:
        if self._fault is not None:
            raise JournalFault(self._fault)

    def latched(self, sentence: str) -> JournalFault:
        """The fault to raise; from here on every call is refused with the same sentence."""
        self._fault = sentence
        return JournalFault(sentence)

    def close(self, last_words: Callable[[], None]) -> None:
        """Closes the file after `last_words` were written. A faulty one is let go as it is."""
        if self._fault is not None:
            file.abandon(self.connection)
            return
        try:
            last_words()
            file.disconnect(self.connection)
        except apsw.Error as error:
            file.abandon(self.connection)
            raise self.latched(f"The journal cannot be closed: {error}.") from error


class _Transaction:
    """A commit is what a dealer waits for: its two statements are compiled once."""

    __slots__ = ("_disk",)

    def __init__(self, disk: JournalDisk) -> None:
        self._disk = disk

    def __enter__(self) -> None:
        self._do("BEGIN IMMEDIATE")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._do("COMMIT")
            return
        self._roll_back()
        if isinstance(error, apsw.Error):
            raise self._fault(error) from error

    def _do(self, statement: str) -> None:
        try:
            self._disk.connection.execute(statement)
        except apsw.Error as error:
            self._roll_back()
            raise self._fault(error) from error

    def _roll_back(self) -> None:
        # SQLite may have done so by itself. What fails here has failed before, and is told.
        if self._disk.connection.in_transaction:
            with suppress(apsw.Error):
                self._disk.connection.execute("ROLLBACK")

    def _fault(self, error: apsw.Error) -> JournalFault:
        return self._disk.latched(f"The journal cannot be written: {error}.")
