"""The ledger in PostgreSQL for someone who only reads, whoever writes to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg

from manager.ledger.errors import StoreError
from manager.ledger.store import postgres_schema
from manager.ledger.store.archives import MOVED, Archive, archives_in, events_view
from manager.ledger.store.engine import NEVER, Part
from manager.ledger.store.places import SCHEMA
from manager.ledger.store.postgres_line import as_storage_failures, connected, first_line
from manager.ledger.store.postgres_rows import COPY_TYPES
from manager.ledger.store.relations import RELATIONS, Row
from manager.ledger.store.sqlite_reader import SqliteReader, opened


class PostgresReader:
    """A connection of its own that the server itself keeps from writing."""

    def __init__(
        self, connection: psycopg.Connection, schema: str, archives: Sequence[Archive] = ()
    ) -> None:
        self._connection = connection
        self._archives = [_opened(each) for each in archives]
        ranges = zip(archives, self._archives, strict=True)
        self._parts = [Part(file.rows, "", each.first, each.last) for each, file in ranges]
        first = archives[-1].last + 1 if archives else 1
        self._parts.append(Part(self.rows, f"{schema}.", first, NEVER))

    def parts(self) -> list[Part]:
        return self._parts

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        with as_storage_failures():
            yield from self._connection.execute(marked(query), values)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield

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


def _opened(archive: Archive) -> SqliteReader:
    return SqliteReader(opened(str(archive.path), None, apsw.SQLITE_OPEN_READONLY))


def open_reader(
    url: str, schema: str = SCHEMA, archive_folder: Path | None = None
) -> PostgresReader:
    """Reads a ledger, whoever owns it; archived days are read from their files."""
    archives = archives_in(archive_folder)
    try:
        connection = connected(url, schema, "reader")
        postgres_schema.check(connection, schema)
        _show_archived(connection, schema, archives)
        connection.execute("SET default_transaction_read_only = on")
    except postgres_schema.NoLedger as refused:
        raise StoreError(str(refused)) from refused
    except psycopg.Error as error:
        raise StoreError(f"The ledger's database does not answer: {first_line(error)}.") from error
    return PostgresReader(connection, schema, archives)


def _show_archived(
    connection: psycopg.Connection, schema: str, archives: Sequence[Archive]
) -> None:
    """Lets queries on this line see archived rows and those that stayed as one table.

    The files' rows are copied into tables that end with the line: SQL knows no other way.
    """
    if not archives:
        return
    last = archives[-1].last
    files = [_opened(each) for each in archives]
    for name, key in zip(MOVED, ("number", "transaction_number"), strict=True):
        connection.execute(f"CREATE TEMP TABLE archived_{name} (LIKE {schema}.{name})")
        columns = RELATIONS[name].columns
        with connection.cursor().copy(f"COPY archived_{name} FROM STDIN (FORMAT BINARY)") as out:
            out.set_types([COPY_TYPES[kind] for kind in RELATIONS[name].types.values()])
            for file in files:
                for row in file.rows(f"SELECT {', '.join(columns)} FROM {name}"):
                    out.write_row(row)
        connection.execute(f"CREATE INDEX ON archived_{name} ({key})")
        connection.execute(
            f"CREATE TEMP VIEW {name} AS SELECT * FROM archived_{name}"
            f" UNION ALL SELECT * FROM {schema}.{name} WHERE {key} > {last}"
        )
    connection.execute(events_view().replace("CREATE VIEW", "CREATE TEMP VIEW", 1))
    for file in files:
        file.close()


def marked(query: str) -> str:
    """Queries are written with `?`, as SQLite takes them; none has a question mark of its own."""
    return query.replace("%", "%%").replace("?", "%s")
