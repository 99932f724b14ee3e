"""The ledger in PostgreSQL for someone who only reads, whoever writes to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from manager.ledger.errors import StoreError
from manager.ledger.store import postgres_schema
from manager.ledger.store.places import SCHEMA
from manager.ledger.store.postgres_line import as_storage_failures, connected, first_line
from manager.ledger.store.relations import Row


class PostgresReader:
    """A connection of its own that the server itself keeps from writing."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

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
        return f"{count} pages of the database were damaged when read" if count else ""

    def close(self) -> None:
        self._connection.close()


def open_reader(url: str, schema: str = SCHEMA) -> PostgresReader:
    """Reads a ledger, whoever owns it."""
    try:
        connection = connected(url, schema, "reader")
        postgres_schema.check(connection, schema)
        connection.execute("SET default_transaction_read_only = on")
    except postgres_schema.NoLedger as refused:
        raise StoreError(str(refused)) from refused
    except psycopg.Error as error:
        raise StoreError(f"The ledger's database does not answer: {first_line(error)}.") from error
    return PostgresReader(connection)


def marked(query: str) -> str:
    """Queries are written with `?`, as SQLite takes them; none has a question mark of its own."""
    return query.replace("%", "%%").replace("?", "%s")
