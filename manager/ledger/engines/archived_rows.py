"""Archived days of a ledger in a database: rows that memory is asked for and the database gave up.

The files lie in the manager's own folder, because no database server reads them. Each is asked by
itself; what they and the database hold is put together here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manager.ledger.engines.archives import MOVED, Archive, archives_in, events_view, temporary
from manager.ledger.engines.relations import EVENTS, Key, Relation, Row
from manager.ledger.engines.sqlite_reader import SqliteReader, opened_to_read

IN_ARCHIVES = frozenset({*MOVED, EVENTS.name})


def opened_file(archive: Archive) -> SqliteReader:
    """One archive, with the events that its transactions keep."""
    connection = opened_to_read(str(archive.path))
    connection.execute(temporary(events_view()))
    return SqliteReader(connection)


class ArchivedRows:
    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._files: list[SqliteReader] = []

    def open(self) -> None:
        self._files = [opened_file(each) for each in archives_in(self._folder)]

    def close(self) -> None:
        for file in self._files:
            file.close()
        self._files = []

    def with_own(
        self,
        relation: Relation,
        own: list[Row],
        query: str,
        values: Sequence[Any],
        newest: int | None,
    ) -> list[Row]:
        """What the database answered, and what the files answer to the same question."""
        if relation.name not in IN_ARCHIVES or not self._files:
            return own
        # By key: rows are in both where the power went between a file and removing its rows.
        once: dict[Key, Row] = {}
        if newest is None:
            older = [row for file in self._files for row in file.rows(query, values)]
            once.update((relation.key_of(row), row) for row in [*older, *own])
        else:
            once.update((relation.key_of(row), row) for row in own)
            for file in reversed(self._files):
                if len(once) < newest:
                    once.update((relation.key_of(row), row) for row in file.rows(query, values))
        return list(once.values())[:newest]
