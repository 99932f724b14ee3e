"""The journal's connection to its file, and what a failure of it means.

After any fault of the disk the journal stays faulty until it is opened again: nobody can say what a
failed sync left behind, so nothing is ever tried twice. What is written and read is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from controller.journal import file
from controller.journal.file import JournalFault


class JournalDisk:
    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._fault: str | None = None  # why nothing more may be trusted

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits at the end; any failure of the file makes the journal faulty for good."""
        try:
            with self.connection:
                yield
        except apsw.Error as error:
            raise self.latched(f"The journal cannot be written: {error}.") from error

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
