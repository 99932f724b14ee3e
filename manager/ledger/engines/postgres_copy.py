"""Writes a whole ledger into an empty schema of PostgreSQL, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import psycopg

from manager.ledger.engines import postgres_schema
from manager.ledger.engines.engine import Tail
from manager.ledger.engines.places import SCHEMA
from manager.ledger.engines.postgres_rows import COPY_TYPES
from manager.ledger.engines.relations import RELATIONS, Row
from manager.ledger.errors import StoreError


def write_whole(
    url: str,
    ledger_id: bytes,
    tail: Tail | None,
    rows: Mapping[str, Iterable[Row]],
    schema: str = SCHEMA,
    writer: str | None = None,
) -> None:
    try:
        with psycopg.connect(url) as connection:
            postgres_schema.create(connection, schema, ledger_id, writer)
            connection.execute(f"SET LOCAL search_path TO {schema}")
            for name, relation in RELATIONS.items():
                with connection.cursor().copy(f"COPY {name} FROM STDIN (FORMAT BINARY)") as out:
                    out.set_types([COPY_TYPES[kind] for kind in relation.types.values()])
                    for row in rows[name]:
                        out.write_row(row)
            if tail is not None:
                connection.execute("UPDATE lease SET last_number = %s, last_digest = %s", tail)
    except psycopg.errors.DuplicateSchema as error:
        raise StoreError(f'There is a ledger in the schema "{schema}" already.') from error
    except psycopg.Error as error:
        sentence = str(error).splitlines()[0].rstrip(".")
        raise StoreError(f"The ledger could not be written: {sentence}.") from error


def remove_whole(url: str, schema: str = SCHEMA) -> None:
    """Takes back what `write_whole` has just written."""
    with psycopg.connect(url) as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


def remove_archived(url: str, schema: str, last: int) -> None:
    """Takes away what an archive holds but its last, in one transaction; only the owner may."""
    try:
        with psycopg.connect(url) as connection:
            connection.execute(f"SET LOCAL search_path TO {schema}")
            for name, key in (("postings", "transaction_number"), ("transactions", "number")):
                connection.execute(f"ALTER TABLE {name} DISABLE TRIGGER append_only")
                connection.execute(f"DELETE FROM {name} WHERE {key} < %s", (last,))
                connection.execute(f"ALTER TABLE {name} ENABLE TRIGGER append_only")
    except psycopg.Error as error:
        sentence = str(error).splitlines()[0].rstrip(".")
        raise StoreError(f"The archived rows could not be removed: {sentence}.") from error
