"""Copies a whole ledger from one place to another, row by row, all or nothing; makes an empty one.

The copy has the same id, the same rows and the same chain, so its tail has the same digest. Whether
it is sound is for an audit of the copy to say.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from manager.ledger.engines import sqlite_copy
from manager.ledger.engines.engine import Engine, Reader, Tail
from manager.ledger.engines.places import database_of, is_database
from manager.ledger.engines.relations import RELATIONS, Relation, Row
from manager.ledger.engines.sqlite_engine import LEDGER_ID_BYTES
from manager.ledger.errors import StoreError


def copy_ledger(source: Engine, target: str, writer: str | None = None) -> Tail | None:
    """Copies what the source's owner holds; the target must not have a ledger yet.

    `writer` is the role that managers of a database sign in with, where that is not its owner.
    """
    loaded, reader = source.load(), source.reader()
    try:
        with reader.snapshot():
            rows = {name: all_rows(reader, relation) for name, relation in RELATIONS.items()}
            if is_database(target):
                from manager.ledger.engines import postgres_copy

                url, schema = database_of(target)
                postgres_copy.write_whole(url, loaded.ledger_id, loaded.tail, rows, schema, writer)
            else:
                sqlite_copy.write_whole(target, loaded.ledger_id, rows)
    finally:
        reader.close()
    return loaded.tail


def make_ledger(database: str, writer: str | None = None) -> None:
    """An empty ledger with an identity of its own; `writer` as above."""
    if not is_database(database):
        raise StoreError("A database is named as postgresql://USER@HOST/NAME.")
    from manager.ledger.engines import postgres_copy

    url, schema = database_of(database)
    nothing = dict.fromkeys(RELATIONS, ())
    ledger_id = secrets.token_bytes(LEDGER_ID_BYTES)
    postgres_copy.write_whole(url, ledger_id, None, nothing, schema, writer)


def remove_copy(target: str) -> None:
    """A copy that is not the original goes, so that the move can be tried again."""
    if is_database(target):
        from manager.ledger.engines import postgres_copy

        postgres_copy.remove_whole(*database_of(target))
    else:
        sqlite_copy.remove_whole(target)


def all_rows(reader: Reader, relation: Relation) -> Iterator[Row]:
    """Every row in the order of its key, as it is written."""
    keys = ", ".join(relation.columns[: relation.key_count])
    columns = ", ".join(relation.columns)
    own = reader.parts()[-1].prefix  # archives stay where they are
    return reader.rows(f"SELECT {columns} FROM {own}{relation.name} ORDER BY {keys}")
