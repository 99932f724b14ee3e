"""The ledger in PostgreSQL for someone who only reads, whoever writes to it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from manager.ledger.engines import postgres_schema
from manager.ledger.engines.archived_rows import opened_file
from manager.ledger.engines.archives import (
    MOVED,
    Archive,
    archives_in,
    events_view,
    missing,
    temporary,
)
from manager.ledger.engines.engine import NEVER, Part, Rows
from manager.ledger.engines.places import SCHEMA
from manager.ledger.engines.postgres_line import as_storage_failures, connected, first_line
from manager.ledger.engines.relations import Row
from manager.ledger.errors import StoreError

_log = logging.getLogger(__name__)


class PostgresReader:
    """A connection of its own that the server itself keeps from writing.

    A manager's pages read through one reader for months. So a line that the server ended, or that
    went with it, is opened anew at the next question, wherever the primary is by then.
    """

    def __init__(
        self,
        connect: Callable[[], psycopg.Connection],
        schema: str,
        archives: Sequence[Archive] = (),
    ) -> None:
        self._connect = connect
        self._connection = connect()
        self._is_in_snapshot = False
        self._archives = [opened_file(each) for each in archives]
        ranges = zip(archives, self._archives, strict=True)
        self._parts = [Part(file.rows, "", each.first, each.last) for each, file in ranges]
        first = archives[-1].last + 1 if archives else 1
        self._parts.append(Part(self.rows, f"{schema}.", first, NEVER))

    def sources(self) -> list[Rows]:
        return [*(file.rows for file in self._archives), self.rows]

    def parts(self) -> list[Part]:
        return self._parts

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        with as_storage_failures():
            yield from self._asked(marked(query), values)

    def _asked(self, query: str, values: Sequence[Any]) -> psycopg.Cursor:
        try:
            return self._connection.execute(query, values)
        except psycopg.OperationalError as error:
            # What a snapshot saw before is gone with its line: the rest would not belong to it.
            if self._is_in_snapshot or not self._connection.closed:
                raise
            _log.warning("The line for reading is opened anew: %s", first_line(error))
        self._connection = self._connect()
        return self._connection.execute(query, values)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        list(self.rows("SELECT 1"))  # a line that was lost is opened anew before, never within
        with self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            self._is_in_snapshot = True
            try:
                yield
            finally:
                self._is_in_snapshot = False

    def damage(self) -> str:
        """Pages whose checksum was wrong when somebody read them; `initdb -k` makes checksums."""
        query = "SELECT coalesce(sum(checksum_failures), 0) FROM pg_stat_database"
        ((count,),) = self.rows(query)
        if count:
            return f"{count} pages of the database were damaged when read"
        return next((found for file in self._archives if (found := file.damage())), "")

    def close(self) -> None:
        for file in self._archives:
            file.close()
        self._connection.close()


def open_reader(
    url: str, schema: str = SCHEMA, archive_folder: Path | None = None
) -> PostgresReader:
    """Reads a ledger, whoever owns it; archived days are read from their files."""
    archives = archives_in(archive_folder)

    def connect() -> psycopg.Connection:
        connection = connected(url, schema, "reader")
        try:
            postgres_schema.check(connection, schema)
            if archive_folder is not None:
                _refuse_missing(connection, schema, archives, archive_folder)
            _hide_archived(connection, schema, archives)
            connection.execute("SET default_transaction_read_only = on")
        except postgres_schema.NoLedger as refused:
            connection.close()
            raise StoreError(str(refused)) from refused
        except (psycopg.Error, StoreError):
            connection.close()
            raise
        return connection

    try:
        return PostgresReader(connect, schema, archives)
    except psycopg.Error as error:
        raise StoreError(f"The ledger's database does not answer: {first_line(error)}.") from error


def _refuse_missing(
    connection: psycopg.Connection, schema: str, archives: Sequence[Archive], folder: Path
) -> None:
    """Without them sums would be too small and a meter might seem never to have played."""
    reach = archives[-1].last if archives else 0
    found = connection.execute(f"SELECT min(number) FROM {schema}.transactions").fetchone()
    if found is not None and found[0] is not None and found[0] > reach + 1:
        raise missing(reach + 1, folder)


def _hide_archived(
    connection: psycopg.Connection, schema: str, archives: Sequence[Archive]
) -> None:
    """Rows are in both places where the power went between a file and removing its rows."""
    if not archives:
        return
    for name, key in zip(MOVED, ("number", "transaction_number"), strict=True):
        connection.execute(
            f"CREATE TEMP VIEW {name} AS SELECT * FROM {schema}.{name}"
            f" WHERE {key} > {archives[-1].last}"
        )
    connection.execute(temporary(events_view()))


def marked(query: str) -> str:
    """Queries are written with `?`, as SQLite takes them; none has a question mark of its own."""
    return query.replace("%", "%%").replace("?", "%s")
