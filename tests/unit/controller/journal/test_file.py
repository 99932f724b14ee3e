"""The journal's file: durable, in one program's hands, and refused when anyone has altered it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from controller.journal import file
from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from protocol.wire import events
from sim.storage.disk import SimDisk
from tests.kit.journals import PATH, add, force, opened, play_round


def test_on_a_real_disk(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = Journal.open(str(path))
    assert len(journal.journal_id) == 16
    for number in range(1, 40):
        play_round(journal, number)
    log = tmp_path / "journal.db-wal"
    assert log.stat().st_size >= 4 * 1024 * 1024
    journal.close()
    assert log.stat().st_size >= 4 * 1024 * 1024  # grown once, kept for good
    again = Journal.open(str(path))
    assert again.last_sequence == 78
    again.close()


def test_the_connection_is_as_durable_as_promised(disk: SimDisk) -> None:
    journal = opened(disk)
    connection = journal._disk.connection
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2  # FULL
    assert connection.pragma("locking_mode") == "exclusive"
    journal.close()


def test_nothing_of_a_file_is_tidied_up_before_it_was_checked(disk: SimDisk) -> None:
    """Catches: a log folded into the file at the end of a start that refused it."""
    connection = file.connect(PATH, disk.vfs_name)
    assert connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1) == 1
    assert connection.pragma("wal_autocheckpoint") == file.CHECKPOINT_PAGES
    assert connection.pragma("journal_size_limit") == file.WAL_BYTES
    file.abandon(connection)


def test_a_second_program_cannot_open_it(disk: SimDisk) -> None:
    journal = opened(disk)
    with pytest.raises(JournalFault, match="locked"):
        opened(disk)
    add(journal, events.RoundEnd(1))
    journal.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE record SET kind = 3",
        "DELETE FROM record",
        "INSERT INTO record VALUES (9, 1, x'a0', 0, 0, zeroblob(32))",
        "INSERT INTO record VALUES (1, 1, x'a0', 0, 0, zeroblob(32))",
        "UPDATE anchor SET sequence = -1",
        "DELETE FROM anchor",
        "UPDATE meta SET journal_id = zeroblob(16)",
        "DELETE FROM meta",
    ],
)
def test_records_are_append_only_in_the_file_itself(statement: str) -> None:
    disk = SimDisk(1)
    journal = opened(disk)
    add(journal, events.RoundEnd(1))
    with pytest.raises(apsw.ConstraintError):
        journal._disk.connection.execute(statement)
    journal.close()
    disk.close()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE record SET body = x'a10105' WHERE sequence = 3", "record 3 was altered"),
        ("UPDATE record SET kind = 11 WHERE sequence = 1", "record 1 was altered"),
        ("UPDATE record SET wall_ms = 201 WHERE sequence = 4", "record 4 was altered"),
        ("UPDATE record SET monotonic_ms = -1 WHERE sequence = 2", "record 2 was altered"),
        ("UPDATE record SET digest = zeroblob(32) WHERE sequence = 4", "record 4 was altered"),
        ("DELETE FROM record WHERE sequence = 2", "record 2 is missing"),
        ("DELETE FROM record WHERE sequence = 1", "record 1 is missing"),
        ("UPDATE meta SET journal_id = zeroblob(16)", "first digest"),
        ("UPDATE anchor SET digest = zeroblob(32)", "anchor was altered"),
        ("UPDATE anchor SET claim_number = 9", "anchor was altered"),
        ("UPDATE anchor SET baseline = x'830185000000000040'", "anchor was altered"),
        ("DELETE FROM anchor", "lacks a row"),
        ("DELETE FROM meta", "lacks a row"),
        ("DELETE FROM acked", "lacks a row"),
        ("PRAGMA application_id = 7", "not made by Underfelt"),
        ("PRAGMA user_version = 4", "version 4"),
        ("DELETE FROM record WHERE sequence = 4", "lost its newest records: 4 were .* 3 are there"),
    ],
)
def test_an_altered_journal_is_refused(damage: str, sentence: str) -> None:
    disk = SimDisk(1)
    journal = opened(disk)
    play_round(journal, 1)
    play_round(journal, 2)
    journal.close()
    force(disk, damage)
    with pytest.raises(JournalFault, match=sentence):
        opened(disk)
    disk.close()


def test_a_flipped_bit_anywhere_in_a_record_is_found(disk: SimDisk) -> None:
    journal = opened(disk)
    record = add(journal, events.Fault("sensor-open", "3A", True, "Sensor 3A does not answer."))
    journal.close()
    whole = disk.read_file(PATH)
    log = f"{PATH}-wal"
    disk.write_file(log, b"")  # its pages have been folded into the database
    for at in (whole.index(b"does not answer"), whole.index(record.digest)):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        disk.write_file(PATH, bytes(damaged))
        with pytest.raises(JournalFault, match="record 1 was altered or damaged"):
            opened(disk)


def test_what_is_not_a_database_is_refused(disk: SimDisk) -> None:
    disk.write_file(PATH, b"not a database, but long enough to look like one" * 100)
    with pytest.raises(JournalFault, match="not a database"):
        opened(disk)


def test_somebody_elses_database_is_refused(disk: SimDisk) -> None:
    connection = apsw.Connection(PATH, vfs=disk.vfs_name)
    connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(JournalFault, match="not made by Underfelt"):
        opened(disk)


def test_a_file_that_loses_its_anchor_while_it_is_open_is_refused_with_a_sentence() -> None:
    """Catches: an error of ours in the middle of a check before use."""
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE TABLE anchor (sequence, digest, claim_number, baseline, baseline_digest)"
    )
    with pytest.raises(JournalFault, match="lost its anchor"):
        file.baseline_of(connection)
    with pytest.raises(JournalFault, match="lost its anchor"):
        list(file.walk(connection))
    connection.close()
