"""The ledger's relations in PostgreSQL: the SQL that makes them, and the one call that writes them.

The relations' own SQL is said once, in `schema.sql`, and put into PostgreSQL's words here. What the
other database has beyond them (lease, fence, append-only) is in `postgres_schema.sql`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg

from kit.migrations import statements
from manager.ledger.engines.relations import RELATIONS, Relation

VERSION = 1
LEDGER_ID_BYTES = 16
# In the order of the call's arguments: who writes, where the chain stood, where it ends now.
FENCE_TYPES = ("text", "bigint", "bigint", "bytea", "bigint", "bytea", "double precision")
# Rows that move at every commit need room for their next version on the same page.
HOT = ("balances", "units", "table_counters")
# Keys that only grow never split a full page, so they need no room on it.
GROWING_KEYS = ("transactions_pkey", "postings_pkey")
# Indexes that PostgreSQL keeps otherwise than SQLite, with "" for none at all. It stores equal keys
# once, so an account without the number beside it takes a sixth; a range of numbers has the key.
OWN_INDEXES = {
    "postings_by_account": "CREATE INDEX postings_by_account ON postings (account);",
    "transactions_by_event": "",  # `events_once` begins with its columns
}
_WORDS = (
    (r"\bINTEGER\b", "bigint"),
    (r"\bBLOB\b", "bytea"),
    (r"\bTEXT\b", 'text COLLATE "C"'),  # keys sort by their bytes, as in SQLite
    (r"\)\s*STRICT(, WITHOUT ROWID)?;", ");"),
)


class NoLedger(Exception):  # noqa: N818
    """There is no ledger where one was expected, or one that this software does not know."""


def create(
    connection: psycopg.Connection, schema: str, ledger_id: bytes, writer: str | None = None
) -> None:
    """Makes an empty ledger, all or nothing. `writer` is the role that a manager signs in with.

    The tables belong to whoever calls this; the writer may add to them, change only the state that
    moves, and remove only rows of such state.
    """
    with connection.transaction():
        _run(connection, f"CREATE SCHEMA {schema}")
        _run(connection, f"SET LOCAL search_path TO {schema}")
        for text in _texts():
            _run(connection, text)
        connection.execute("INSERT INTO meta VALUES ('ledger_id', %s)", (ledger_id,))
        connection.execute("INSERT INTO format (version) VALUES (%s)", (VERSION,))
        if writer is not None:
            for text in _grants(schema, writer):
                _run(connection, text)


def check(connection: psycopg.Connection, schema: str) -> bytes:
    """The ledger's id; refuses a schema that is not there or that newer software has made."""
    found = connection.execute("SELECT to_regclass(%s)", (f"{schema}.format",)).fetchone()
    if found is None or found[0] is None:
        raise NoLedger(
            f'There is no ledger in the schema "{schema}" of this database:'
            " make one with `python -m manager make-ledger`, or move one there."
        )
    found = connection.execute("SELECT version, value FROM format, meta").fetchone()
    if found is None or found[0] != VERSION:
        version = "none" if found is None else found[0]
        raise NoLedger(f"The ledger has version {version}; this software knows {VERSION}.")
    return bytes(found[1])


def call_text() -> str:
    """The statement that writes a batch; one statement is a transaction of its own."""
    kinds = [*FENCE_TYPES]
    for relation in RELATIONS.values():
        kinds += [f"{relation.name}[]"] * (1 if relation.append_only else 2)
    return f"SELECT commit_batch({', '.join(f'%b::{kind}' for kind in kinds)})"


def _texts() -> Iterator[str]:
    yield from _relations()
    yield statements(__package__, "postgres_schema.sql")
    for relation in RELATIONS.values():
        if relation.append_only:
            yield (
                f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {relation.name}"
                " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
            )
    for name in HOT:
        yield f"ALTER TABLE {name} SET (fillfactor = 50)"
    for name in GROWING_KEYS:
        yield f"ALTER INDEX {name} SET (fillfactor = 100)"
    yield (
        "INSERT INTO lease (owner, epoch, expires_at, backend, last_number, last_digest)"
        " VALUES ('', 0, clock_timestamp(), 0, 0, decode(repeat('00', 32), 'hex'))"
    )
    yield _commit_function()


def _relations() -> Iterator[str]:
    """What `schema.sql` makes, without its triggers: SQLite's own way to say append-only."""
    text = statements(__package__, "schema.sql")
    for pattern, word in _WORDS:
        text = re.sub(pattern, word, text)
    for found in re.finditer(
        r"^CREATE (?:TABLE|VIEW|INDEX) (\w+)\b.*?;$", text, re.DOTALL | re.MULTILINE
    ):
        made = OWN_INDEXES.get(found.group(1), found.group())
        if made:
            yield made


def _commit_function() -> str:
    names = ("by_owner", "at_epoch", "after_number", "after_digest", "newest_number")
    fence = [*names, "newest_digest", "lease_s"]
    arguments = [f"{name} {kind}" for name, kind in zip(fence, FENCE_TYPES, strict=True)]
    steps = []
    for relation in RELATIONS.values():
        arguments.append(f"new_{relation.name} {relation.name}[]")
        if not relation.append_only:
            # What goes makes place first: a table may have another unit in the same batch.
            arguments.append(f"old_{relation.name} {relation.name}[]")
            steps.append(_delete(relation))
        steps.append(_insert(relation))
    body = "\n    ".join(steps)
    return (
        f"CREATE FUNCTION commit_batch({', '.join(arguments)}) RETURNS void LANGUAGE plpgsql AS $$"
        f"\nBEGIN\n    PERFORM fence({', '.join(fence)});\n    {body}\nEND $$"
    )


def _insert(relation: Relation) -> str:
    array = f"new_{relation.name}"
    text = f"INSERT INTO {relation.name} SELECT * FROM unnest({array})"
    if not relation.append_only:
        keys = ", ".join(relation.columns[: relation.key_count])
        others = relation.columns[relation.key_count :]
        changes = ", ".join(f"{column} = excluded.{column}" for column in others)
        text += f" ON CONFLICT ({keys}) DO UPDATE SET {changes}"
    return f"IF cardinality({array}) > 0 THEN {text}; END IF;"


def _delete(relation: Relation) -> str:
    array, keys = f"old_{relation.name}", relation.columns[: relation.key_count]
    same = " AND ".join(f"{relation.name}.{key} = gone.{key}" for key in keys)
    text = f"DELETE FROM {relation.name} USING unnest({array}) AS gone WHERE {same}"
    return f"IF cardinality({array}) > 0 THEN {text}; END IF;"


def _grants(schema: str, writer: str) -> Iterator[str]:
    yield f"GRANT USAGE ON SCHEMA {schema} TO {writer}"
    yield f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO {writer}"
    moving = [name for name, relation in RELATIONS.items() if not relation.append_only]
    yield f"GRANT UPDATE, DELETE ON {', '.join(moving)} TO {writer}"
    yield f"REVOKE INSERT ON meta, format, lease FROM {writer}"
    yield f"GRANT UPDATE ON lease, managers TO {writer}"


def _run(connection: psycopg.Connection, text: str) -> None:
    # Made from our own files and relations alone; nobody's input is in it.
    connection.execute(text)
