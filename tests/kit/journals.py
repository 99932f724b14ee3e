"""Journals on a simulated disk, what is recorded in them, and what a person may do to the file."""

from __future__ import annotations

import apsw

from controller.journal.journal import Journal
from controller.journal.records import JournalRecord
from protocol.wire import events
from sim.storage.disk import SimDisk

PATH = "journal.db"
JOURNAL_ID = b"0123456789abcdef"
# What a dealer has pressed so far.
SEAT_FIVE = (1000, {1: 5, 2: "", 3: ""})


def opened(disk: SimDisk, capacity_records_max: int = 1000) -> Journal:
    return Journal.open(
        PATH,
        disk.vfs_name,
        lambda length: JOURNAL_ID[:length],
        created_wall_ms=5,
        capacity_records_max=capacity_records_max,
        wal_bytes=16 * 1024,
    )


def add(journal: Journal, body: events.EventBody) -> JournalRecord:
    return journal.append(body.KIND, body.to_body(), 100, 200)


def play_round(journal: Journal, number: int) -> None:
    add(journal, events.RoundStart(number, ("1A",), ()))
    add(journal, events.RoundEnd(number))


def force(disk: SimDisk, *statements: str) -> None:
    """What a person with an SQLite shell could do to the file, past all triggers."""
    connection = apsw.Connection(PATH, vfs=disk.vfs_name)
    connection.pragma("locking_mode", "EXCLUSIVE")
    for (trigger,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.close()
