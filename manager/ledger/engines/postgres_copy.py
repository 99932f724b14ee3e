"""Writes a whole ledger into an empty schema of PostgreSQL, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

import psycopg

from manager.ledger.engines import postgres_schema
from manager.ledger.engines.engine import Tail
from manager.ledger.engines.places import SCHEMA
from manager.ledger.engines.postgres_rows import COPY_TYPES
from manager.ledger.engines.relations import RELATIONS, Row
from manager.ledger.errors import StoreError

MOVED_AWAY = "moved_"  # no group's schema begins so


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


def put_aside(url: str, schema: str, tail: Tail | None) -> None:
    """Gives a ledger that was moved away a name that no manager opens; only its owner may.

    Refused when it does not end where the copy ends: who stood by has gone on with it.
    """
    try:
        with psycopg.connect(url) as connection:
            # Holds the row that every commit needs, until the name is another one.
            query = f"SELECT last_number FROM {schema}.lease FOR UPDATE"
            newest = connection.execute(query).fetchone()
            if newest != (tail.number if tail else 0,):
                raise StoreError("A manager has written to the ledger meanwhile: stop it first.")
            found = connection.execute("SELECT nspname FROM pg_namespace").fetchall()
            taken = {name for (name,) in found}
            names = (f"{MOVED_AWAY}{schema}_{number}" for number in count(1))
            name = next(name for name in names if name not in taken)
            connection.execute(f"ALTER SCHEMA {schema} RENAME TO {name}")
    except psycopg.Error as error:
        sentence = str(error).splitlines()[0].rstrip(".")
        raise StoreError(f"The ledger could not be put aside: {sentence}.") from error


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
