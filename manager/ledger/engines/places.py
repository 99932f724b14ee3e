"""Where a ledger is: a SQLite file by its path, or a PostgreSQL database by its address.

It alone tells the two apart. Behind a `#` an address may name the group whose ledger it is; each
group of jackpots has a schema of its own. PostgreSQL's library is loaded only by who uses it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import Path

from manager.ledger.engines import sqlite_engine
from manager.ledger.engines.engine import ALONE, Engine, Owner, Reader
from manager.ledger.errors import StoreError

SCHEMES = ("postgresql://", "postgres://")
SCHEMA = "underfelt"  # of a property with one group; others are put behind it
GROUP_CHARACTERS_MAX = 32


def is_database(place: str) -> bool:
    return place.startswith(SCHEMES)


def database_of(place: str) -> tuple[str, str]:
    """The database's own address, and the schema of the group in it."""
    url, _, group = place.partition("#")
    if not group:
        return url, SCHEMA
    if not re.fullmatch(rf"[a-z][a-z0-9_]{{0,{GROUP_CHARACTERS_MAX - 1}}}", group):
        raise StoreError(
            f"A group's name has at most {GROUP_CHARACTERS_MAX} small letters, digits and"
            f" underscores, and begins with a letter; {group!r} does not."
        )
    return url, f"{SCHEMA}_{group}"


def spoken(place: str) -> str:
    """How a sentence names the place: without the name and password that an address may hold."""
    if not is_database(place):
        return place
    address, _, group = place.partition("#")
    named = re.sub(r"(?<=://)[^@/]*@", "", address.partition("?")[0])
    return f"{named}#{group}" if group else named


def engine_at(
    place: str,
    vfs: str | None = None,
    random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    owner: Owner = ALONE,
) -> Engine:
    """`owner` is for a database: managers hold its lease in turn, and its archives lie apart."""
    if is_database(place):
        from manager.ledger.engines.postgres_engine import PostgresEngine

        return PostgresEngine(*database_of(place), owner=owner)
    return sqlite_engine.SqliteEngine(place, vfs, random_bytes)


def reader_at(place: str, archive_folder: Path | None = None) -> Reader:
    """Archives lie beside a file unless told; a database cannot know where they are."""
    if is_database(place):
        from manager.ledger.engines import postgres_reader

        return postgres_reader.open_reader(*database_of(place), archive_folder)
    return sqlite_engine.open_reader(place, archive_folder)
