"""Opens the manager's database: one connection, durable at every commit, refused when doubtful.

Knows SQLite's settings, the schema and its version. WAL with `synchronous=FULL` loses no committed
transaction at a power cut; the exclusive lock keeps a second writer out and lets WAL work on a
VFS without shared memory. What the rows mean is not known here.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from importlib.resources import files

import apsw

from manager.ledger.errors import StoreError

_log = logging.getLogger(__name__)

SCHEMA_VERSION = 2
APPLICATION_ID = 0x55464C54  # "UFLT"
IN_MEMORY = ":memory:"
LEDGER_ID_BYTES = 16
COPIED_PAGES = 256  # a megabyte, about a millisecond

# What each version brought: a file of statements, and the tables in it that are append-only.
_STEPS = (
    (
        "schema.sql",
        ("transactions", "postings", "events", "alarms", "wins", "win_lines", "win_envy"),
    ),
    (
        "schema_2.sql",
        ("win_policies", "win_reversals", "win_replacements", "round_joins", "table_games"),
    ),
)


def open_database(
    path: str, vfs: str | None = None, random_bytes: Callable[[int], bytes] = secrets.token_bytes
) -> apsw.Connection:
    """The open database; a new, empty one when there is none at `path`."""
    try:
        connection = apsw.Connection(path, vfs=vfs)
    except apsw.Error as error:
        raise StoreError(f"The ledger {path} cannot be opened: {error}.") from error
    try:
        _prepare(connection, path, random_bytes)
    except apsw.BusyError as error:
        close_database(connection)
        raise StoreError(f"The ledger {path} is in use by another process.") from error
    except apsw.Error as error:
        close_database(connection)
        raise StoreError(f"The ledger {path} is damaged or unreadable: {error}.") from error
    except StoreError:
        close_database(connection)
        raise
    return connection


def copied(connection: apsw.Connection, path: str) -> Iterator[None]:
    """Copies the database to a new file, some pages at a time.

    What the same connection commits meanwhile goes into the copy too, so it is whole at the end.
    """
    target = apsw.Connection(path)
    try:
        with target.backup("main", connection, "main") as backup:
            while not backup.done:
                backup.step(COPIED_PAGES)
                yield
    finally:
        close_database(target)


def close_database(connection: apsw.Connection) -> None:
    """Lets go of the file. A failure here is no news: what was committed is on the medium."""
    try:
        connection.close(force=True)
    except apsw.Error as error:
        _log.warning("The ledger's file could not be tidied up when closing: %s", error)


def _prepare(connection: apsw.Connection, path: str, random_bytes: Callable[[int], bytes]) -> None:
    connection.pragma("locking_mode", "exclusive")
    journal_mode = connection.pragma("journal_mode", "wal")
    if journal_mode != "wal" and path != IN_MEMORY:
        raise StoreError(f"The ledger {path} cannot use a write-ahead log here.")
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", True)
    connection.pragma("recursive_triggers", True)
    connection.pragma("trusted_schema", False)
    connection.pragma("journal_size_limit", 8 * 1024 * 1024)
    if connection.pragma("application_id") == 0 and _is_empty(connection):
        _create(connection, random_bytes)
    _check(connection, path)


def _is_empty(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) = 0 FROM sqlite_schema").get)


def _create(connection: apsw.Connection, random_bytes: Callable[[int], bytes]) -> None:
    # One SQLite transaction: a power cut leaves either no ledger or a whole empty one.
    with connection:
        for name, append_only in _STEPS:
            _add(connection, name, append_only)
        connection.execute(
            "INSERT INTO meta VALUES ('ledger_id', ?)", (random_bytes(LEDGER_ID_BYTES),)
        )
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", SCHEMA_VERSION)


def _add(connection: apsw.Connection, name: str, append_only: tuple[str, ...]) -> None:
    connection.execute(files(__package__).joinpath(name).read_text("utf-8"))
    for table in append_only:
        for verb in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT raise(ABORT, 'The {table} are append-only.'); END"
            )


def _upgrade(connection: apsw.Connection) -> None:
    """A ledger of version 1 has the terms it opened with in force, and none that are pending."""
    with connection:
        _add(connection, *_STEPS[1])
        connection.execute(
            "INSERT INTO jackpot_terms SELECT id, json_object('id', id, 'label', label,"
            " 'seed_cents', seed_cents, 'opening_cents', opening_cents, 'contribution_ppm',"
            " contribution_ppm, 'reserve_ppm', reserve_ppm, 'claim_lock',"
            " json(iif(claim_lock, 'true', 'false')), 'fixed_pays_from', fixed_pays_from),"
            " '', 0, '', 0 FROM jackpots"
        )
        connection.pragma("user_version", 2)


def _check(connection: apsw.Connection, path: str) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:
        raise StoreError(f"{path} is a database, but not an Underfelt ledger.")
    version = connection.pragma("user_version")
    if version not in (1, SCHEMA_VERSION):
        raise StoreError(f"The ledger {path} has version {version}, not {SCHEMA_VERSION}.")
    verdict = connection.pragma("quick_check", 1)
    if verdict != "ok":
        raise StoreError(f"The ledger {path} is damaged: {verdict}.")
    if version == 1:
        _upgrade(connection)
