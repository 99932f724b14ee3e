"""The journal's SQLite file: its format, how it is opened, and how it is checked.

It alone knows the settings that make a commit survive a power cut, and the rules the file keeps
by itself: records only ever follow one another, never change, and leave only behind the anchor.
What is recorded, and when, is `controller.journal.journal`'s business.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

import apsw

from controller.journal.state_copies import StateCopies
from controller.journal.state_image import Baseline, CriticalState
from kit.migrations import Format, FormatRefused, statements
from protocol.proof import chain

FORMAT: Final = Format(
    "The journal's file",
    0x55464A4C,
    (statements(__package__, "schema.sql"),),  # "UFJL"
)

# The log is grown once, then overwritten: a commit into a grown file is ten times faster, and the
# writer folds it into the database long before it would have to grow again.
WAL_BYTES: Final = 4 * 1024 * 1024
CHECKPOINT_PAGES: Final = 512
FILLER: Final = "filler"


class JournalFault(Exception):  # noqa: N818
    """The journal cannot be trusted or written; the table must not play."""


def connect(path: str, vfs: str | None) -> apsw.Connection:
    """The one connection: exclusive, and every commit on the medium before it returns."""
    connection = apsw.Connection(path, vfs=vfs)
    try:
        _configure(connection)
    except BaseException:
        abandon(connection)
        raise
    return connection


def _configure(connection: apsw.Connection) -> None:
    # Until it is checked, nothing may be tidied up: the log may hold what the rest has lost.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    _keep_wal_file(connection)
    # Exclusive comes first: then WAL needs no shared memory and no second program gets in.
    connection.pragma("locking_mode", "EXCLUSIVE")
    mode = connection.pragma("journal_mode", "WAL")
    if mode != "wal":
        raise JournalFault(f"The journal's file cannot use a write-ahead log (it says {mode}).")
    connection.pragma("synchronous", "FULL")
    connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
    connection.pragma("journal_size_limit", WAL_BYTES)
    connection.pragma("cell_size_check", True)
    connection.pragma("trusted_schema", False)
    connection.pragma("temp_store", "MEMORY")


def trust(connection: apsw.Connection) -> None:
    """The file is whole: from here on an orderly close may fold the log into it."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _keep_wal_file(connection: apsw.Connection) -> None:
    """Without this an orderly close would delete the log that was grown so carefully."""
    keep = ctypes.c_int(1)
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(keep))


def disconnect(connection: apsw.Connection) -> None:
    # With a limit set, closing would cut the log to nothing.
    connection.pragma("journal_size_limit", -1)
    connection.close()


def abandon(connection: apsw.Connection) -> None:
    """Lets go of a file that has already failed, or is being refused."""
    # SQLite still tries to tidy up. That this fails too is no news, and must not hide the cause.
    with suppress(apsw.Error):
        connection.close(True)


def is_new(connection: apsw.Connection) -> bool:
    """No table of ours yet: the file is new, or the power went while it was being grown."""
    tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    return tables in ([], [(FILLER,)])


def create(
    connection: apsw.Connection,
    journal_id: bytes,
    unit_id: str,
    created_wall_ms: int,
    wal_bytes: int,
) -> None:
    """Sets up the whole file in one transaction, after growing its log."""
    first = chain.first_digest(journal_id)
    baseline = Baseline().encode()
    image = CriticalState(Baseline()).image(journal_id, 0, first)
    _grow(connection, wal_bytes)
    with connection:
        FORMAT.create(connection)
        connection.execute(
            "INSERT INTO meta VALUES (1, ?, ?, ?)", (journal_id, unit_id, created_wall_ms)
        )
        connection.execute(
            "INSERT INTO anchor VALUES (1, 0, ?, 0, ?, ?)",
            (first, baseline, baseline_digest(first, baseline)),
        )
        StateCopies(connection).write(image)
        connection.execute("INSERT INTO acked VALUES (1, 0)")
        connection.execute("INSERT INTO boot VALUES (1, 0)")


def _grow(connection: apsw.Connection, wal_bytes: int) -> None:
    """One large throw-away transaction makes the log and the database as large as they will be."""
    with connection:
        connection.execute(f"DROP TABLE IF EXISTS {FILLER}")
        connection.execute(f"CREATE TABLE {FILLER} (zeros BLOB)")
        connection.execute(f"INSERT INTO {FILLER} VALUES (zeroblob(?))", (wal_bytes,))
    connection.execute(f"DROP TABLE {FILLER}")
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)


def baseline_digest(anchor_digest: bytes, baseline: bytes) -> bytes:
    return hashlib.sha256(anchor_digest + baseline).digest()


def check_file(connection: apsw.Connection, unit_id: str) -> None:
    """Refuses a file that is not ours, not this unit's, or not whole."""
    try:
        FORMAT.check(connection)
    except FormatRefused as refused:
        raise JournalFault(str(refused)) from refused
    found = connection.pragma("quick_check", 1)
    if found != "ok":
        raise JournalFault(f"The journal's file is damaged: {found}.")
    owner = connection.execute("SELECT unit_id FROM meta").get
    if unit_id and owner and owner != unit_id:
        raise JournalFault(f"The journal belongs to unit {owner}; this is {unit_id}.")


class Link(NamedTuple):
    """One record of the chain, verified."""

    sequence: int
    kind: int
    body: bytes
    digest: bytes


def baseline_of(connection: apsw.Connection) -> Baseline:
    """What the trimmed records left behind, or the refusal of an altered anchor."""
    row = connection.execute(
        "SELECT digest, claim_number, baseline, baseline_digest FROM anchor"
    ).fetchone()
    if row is None:
        raise JournalFault("The journal has lost its anchor.")
    digest, claim_number, encoded, kept = row
    if baseline_digest(digest, encoded) != kept:
        raise JournalFault("The journal's anchor was altered or damaged.")
    baseline = Baseline.decode(encoded)
    if baseline.claim_number != claim_number:
        raise JournalFault("The journal's anchor was altered or damaged.")
    return baseline


def walk(connection: apsw.Connection) -> Iterator[Link]:
    """Every record follows the one before it, from the anchor on, and was never altered."""
    anchor = connection.execute("SELECT sequence, digest FROM anchor").fetchone()
    if anchor is None:
        raise JournalFault("The journal has lost its anchor.")
    last_sequence, last_digest = anchor
    _check_start(connection, last_sequence, last_digest)
    rows = connection.execute(
        "SELECT sequence, kind, body, monotonic_ms, wall_ms, digest FROM record ORDER BY sequence"
    )
    for sequence, kind, body, monotonic_ms, wall_ms, digest in rows:
        if sequence != last_sequence + 1:
            raise JournalFault(f"Journal record {last_sequence + 1} is missing.")
        last_digest = chain.encoded_event_digest(
            last_digest, sequence, kind, body, monotonic_ms, wall_ms
        )
        if digest != last_digest:
            raise JournalFault(f"Journal record {sequence} was altered or damaged.")
        last_sequence = sequence
        yield Link(sequence, kind, body, digest)


def _check_start(connection: apsw.Connection, sequence: int, digest: bytes) -> None:
    """As long as nothing was trimmed, the chain starts at the journal's own id."""
    journal_id = connection.execute("SELECT journal_id FROM meta").get
    if not isinstance(journal_id, bytes):
        raise JournalFault("The journal has lost its id.")
    if sequence == 0 and digest != chain.first_digest(journal_id):
        raise JournalFault("The journal's first digest does not follow from its id.")
