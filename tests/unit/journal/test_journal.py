"""The journal: recording, reopening, trimming, settings, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from controller import journal as journal_module
from controller.journal import Entry, Journal, JournalFault, JournalRecord, StoredSettings
from protocol import chain, events
from protocol.errors import ProtocolError
from protocol.settings import settings_digest
from sim.disk import SimDisk

PATH = "journal.db"
JOURNAL_ID = b"0123456789abcdef"


@pytest.fixture
def disk() -> Iterator[SimDisk]:
    disk = SimDisk(1)
    yield disk
    disk.close()


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


def test_a_new_journal(disk: SimDisk) -> None:
    journal = opened(disk)
    assert journal.journal_id == JOURNAL_ID
    assert (journal.last_sequence, journal.acked_sequence, journal.backlog) == (0, 0, 0)
    assert journal.last_digest == chain.first_digest(JOURNAL_ID)
    assert journal.records(0, 10) == []
    assert journal.settings() is None
    journal.close()


def test_records_follow_one_another(disk: SimDisk) -> None:
    journal = opened(disk)
    first = add(journal, events.Boot(1, "test", "RUN"))
    second = add(journal, events.RoundStart(1, ("1A",), ()))
    assert (first.sequence, second.sequence) == (1, 2)
    start = chain.first_digest(JOURNAL_ID)
    assert first.digest == chain.event_digest(start, 1, first.kind, first.body, 100, 200)
    assert second.digest == chain.event_digest(first.digest, 2, second.kind, second.body, 100, 200)
    assert journal.last_digest == second.digest
    assert journal.records(0, 10) == [first, second]
    assert journal.records(1, 10) == [second]
    assert journal.records(0, 1) == [first]
    journal.close()


def test_reopening_finds_everything(disk: SimDisk) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    journal.acknowledge(1)
    journal.close()
    again = opened(disk)
    assert (again.journal_id, again.last_sequence, again.acked_sequence) == (JOURNAL_ID, 2, 1)
    assert again.last_digest == journal.last_digest
    add(again, events.RoundStart(2, (), ()))
    assert [record.sequence for record in again.records(0, 10)] == [1, 2, 3]
    again.close()


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
    connection = journal._connection
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2  # FULL
    assert connection.pragma("locking_mode") == "exclusive"
    journal.close()


def test_a_second_program_cannot_open_it(disk: SimDisk) -> None:
    journal = opened(disk)
    with pytest.raises(JournalFault, match="locked"):
        opened(disk)
    add(journal, events.RoundEnd(1))
    journal.close()


def test_several_at_once_are_all_or_none(disk: SimDisk) -> None:
    journal = opened(disk)
    good = Entry(events.ROUND_END, {1: 1}, 0, 0)
    with pytest.raises(ProtocolError, match="RoundEnd"):
        journal.append_many([good, Entry(events.ROUND_END, {1: "one"}, 0, 0)])
    assert journal.last_sequence == 0
    assert [record.sequence for record in journal.append_many([good, good])] == [1, 2]
    assert journal.append_many([]) == []
    journal.close()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (99, {}),
        (events.ROUND_END, {}),
        (events.ROUND_END, {1: 0}),
        (events.ROUND_END, {1: 1, 2: 2}),
    ],
)
def test_what_the_manager_would_refuse_is_not_recorded(kind: int, body: dict[int, int]) -> None:
    disk = SimDisk(1)
    journal = opened(disk)
    with pytest.raises(ProtocolError):
        journal.append(kind, body, 0, 0)
    add(journal, events.RoundEnd(1))  # and the journal is none the worse for it
    assert journal.last_sequence == 1
    journal.close()
    disk.close()


# ---- the file defends itself ----


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
        journal._connection.execute(statement)
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
        ("PRAGMA user_version = 4", "format 4"),
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


# ---- acknowledging and trimming ----


def test_acknowledging_shrinks_the_backlog_and_never_goes_back(disk: SimDisk) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    assert journal.backlog == 2
    journal.acknowledge(2)
    journal.acknowledge(1)
    assert (journal.acked_sequence, journal.backlog) == (2, 0)
    with pytest.raises(JournalFault, match=r"Record 3 was acknowledged, but the last one is 2\."):
        journal.acknowledge(3)
    journal.close()


def test_a_power_cut_may_cost_an_acknowledgement_but_never_a_record(disk: SimDisk) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    journal.acknowledge(1)
    play_round(journal, 2)  # stores the acknowledgement above
    journal.acknowledge(4)
    disk.cut_power()
    with pytest.raises(JournalFault):
        journal.close()
    disk.restore()
    again = opened(disk)
    assert (again.last_sequence, again.acked_sequence) == (4, 1)
    again.close()


def test_trim_keeps_the_last_finished_round_and_what_follows(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2, 3):
        play_round(journal, number)
    add(journal, events.RoundStart(4, (), ()))
    journal.acknowledge(7)
    assert journal.trim() == 4
    kept = journal.records(journal.first_sequence - 1, 10)
    assert [record.sequence for record in kept] == [5, 6, 7]
    assert kept[0].kind == events.ROUND_START
    assert journal.trim() == 0
    journal.close()
    again = opened(disk)  # the chain is checked from the anchor
    assert again.records(4, 10) == kept
    assert again.first_sequence == 5
    assert add(again, events.RoundEnd(4)).sequence == 8
    again.close()


def test_trim_never_takes_what_is_not_acknowledged(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2, 3):
        play_round(journal, number)
    journal.acknowledge(3)
    assert journal.trim() == 3
    assert journal.first_sequence == 4
    journal.close()


def test_trim_before_any_round_has_ended_takes_nothing(disk: SimDisk) -> None:
    journal = opened(disk)
    add(journal, events.Boot(1, "test", ""))
    add(journal, events.RoundStart(1, (), ()))
    journal.acknowledge(2)
    assert journal.trim() == 0
    journal.close()


def test_trimmed_records_cannot_be_skipped_over(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2):
        play_round(journal, number)
    journal.acknowledge(4)
    journal.trim()
    with pytest.raises(JournalFault, match=r"up to 2 are no longer kept; those after 1 were asked"):
        journal.records(1, 10)
    journal.close()


def test_a_trimmed_chain_still_detects_an_altered_anchor(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2):
        play_round(journal, number)
    journal.acknowledge(4)
    journal.trim()
    journal.close()
    force(disk, "UPDATE anchor SET digest = zeroblob(32)")
    with pytest.raises(JournalFault, match="anchor was altered"):
        opened(disk)


def test_the_highest_claim_number_outlives_its_record(disk: SimDisk) -> None:
    journal = opened(disk)
    add(journal, events.RoundStart(1, ("1A",), ()))
    add(journal, events.Claim(1, 17, (), False))
    add(journal, events.RoundEnd(1))
    play_round(journal, 2)
    journal.acknowledge(5)
    assert journal.baseline.claim_number == 0
    assert journal.trim() == 3
    journal.close()
    again = opened(disk)
    assert again.baseline.claim_number == 17
    again.close()


def test_old_records_leave_by_themselves(disk: SimDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "RETAINED_RECORDS_MAX", 20)
    journal = opened(disk)
    for number in range(1, 51):
        play_round(journal, number)
        journal.acknowledge(journal.last_sequence)
        assert journal.record_count <= 22
    assert journal.last_sequence == 100
    journal.close()
    opened(disk).close()


# ---- capacity ----


def test_capacity_warns_then_says_full_then_refuses(
    disk: SimDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "RESERVE_RECORDS", 2)
    journal = opened(disk, capacity_records_max=10)
    seen = []
    for number in range(1, 13):
        add(journal, events.RoundEnd(number))
        seen.append((journal.nearly_full, journal.full))
    assert seen == [(False, False)] * 7 + [(True, False)] * 2 + [(True, True)] * 3
    with pytest.raises(JournalFault, match="holds 12 records and is full; 12 of them wait"):
        add(journal, events.RoundEnd(13))
    assert journal.last_sequence == 12
    journal.acknowledge(12)  # being full is not a fault of the disk: it goes on
    journal.close()


# ---- settings and boots ----


def test_settings_are_kept_as_they_came(disk: SimDisk) -> None:
    journal = opened(disk)
    journal.adopt_settings(b"one", 0, 0)
    journal.adopt_settings(b"two", 0, 0)
    journal.close()
    again = opened(disk)
    assert again.settings() == StoredSettings(b"two", settings_digest(b"two"))
    again.close()


def test_adopting_settings_records_it_in_the_same_breath(disk: SimDisk) -> None:
    journal = opened(disk)
    record = journal.adopt_settings(b"settings", 1, 2)
    assert record.kind == events.CONFIG
    stored = journal.settings()
    assert stored is not None
    assert events.Config.from_body(record.body).digest == stored.digest
    journal.close()


def test_altered_settings_are_refused(disk: SimDisk) -> None:
    journal = opened(disk)
    journal.adopt_settings(b"settings", 0, 0)
    journal.close()
    force(disk, "UPDATE settings SET body = x'00' WHERE copy = 1")
    journal = opened(disk)
    assert journal.settings() == StoredSettings(b"settings", settings_digest(b"settings"))
    journal.close()
    force(disk, "UPDATE settings SET body = x'00'")
    journal = opened(disk)
    with pytest.raises(JournalFault, match="settings were altered"):
        journal.settings()
    journal.close()


def test_boots_are_counted(disk: SimDisk) -> None:
    for number in (1, 2, 3):
        journal = opened(disk)
        assert journal.count_boot() == number
        journal.close()


def test_last_sequence_of_a_kind(disk: SimDisk) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    play_round(journal, 2)
    assert journal.last_sequence_of(events.ROUND_START) == 3
    assert journal.last_sequence_of(events.ROUND_START, before_sequence=3) == 1
    assert journal.last_sequence_of(events.CLAIM) == 0
    journal.close()


# ---- a disk that fails ----


def break_disk(disk: SimDisk, how: str) -> None:
    if how == "full":
        disk.size_max_bytes = 0
    elif how == "read-only":
        disk.read_only = True
    else:
        disk.failing = {"write" if how == "write error" else "sync"}


def mend_disk(disk: SimDisk) -> None:
    disk.size_max_bytes, disk.read_only, disk.failing = None, False, set()


@pytest.mark.parametrize("how", ["full", "read-only", "write error", "sync error"])
def test_after_a_failed_write_the_journal_stays_faulty_until_reopened(how: str) -> None:
    disk = SimDisk(1)
    journal = opened(disk)
    kept = add(journal, events.RoundStart(1, ("1A",), ()))
    break_disk(disk, how)
    # Several at once: a full disk is noticed only when the log must grow.
    entries = [Entry(events.ROUND_END, {1: number}, 0, 0) for number in range(1, 900)]
    with pytest.raises(JournalFault, match="cannot be written"):
        journal.append_many(entries)
    mend_disk(disk)
    sentence = re.escape("The journal cannot be written")
    for attempt in (
        lambda: add(journal, events.RoundEnd(1)),
        lambda: journal.records(0, 1),
        lambda: journal.acknowledge(1),
        journal.trim,
        journal.settings,
        journal.count_boot,
        lambda: journal.adopt_settings(b"", 0, 0),
        lambda: journal.check_memory(b""),
        lambda: journal.keep_salvage([]),
        journal.salvage,
    ):
        with pytest.raises(JournalFault, match=sentence):
            attempt()
    journal.close()
    again = opened(disk)
    assert kept in again.records(0, 1000)
    again.close()
    disk.close()


def test_a_read_error_is_a_fault_and_not_an_empty_journal(disk: SimDisk) -> None:
    journal = opened(disk)
    add(journal, events.RoundEnd(1))
    journal.close()
    disk.failing = {"read"}
    with pytest.raises(JournalFault, match="cannot be opened"):
        opened(disk)


def test_a_disk_that_cannot_be_written_cannot_hold_a_new_journal(disk: SimDisk) -> None:
    disk.read_only = True
    with pytest.raises(JournalFault, match="cannot be opened"):
        opened(disk)


# -- what is kept beside the records -----------------------------------------------------------

SEAT_FIVE = (1000, {1: 5, 2: "", 3: ""})
NO_SEAT = (1000, {1: 0, 2: "", 3: ""})
JOINED = (1002, {1: [[2, 5]]})


def test_the_newest_moment_of_each_kind_is_kept_with_the_record_it_came_after(
    disk: SimDisk,
) -> None:
    journal = opened(disk)
    journal.append_many([], [JOINED])
    play_round(journal, 1)
    journal.append_many([], [NO_SEAT])
    journal.append_many([], [SEAT_FIVE])
    journal.close()
    again = opened(disk)
    assert again.moments() == {0: [JOINED], again.last_sequence: [SEAT_FIVE]}
    again.close()


# Catches: records and moments in two transactions; half an entry would come back without the other.
def test_a_moment_is_durable_with_its_records_or_not_at_all(disk: SimDisk) -> None:
    start = events.RoundStart(1, ("5A",), (), (), 100)
    entry = Entry(start.KIND, start.to_body(), 0, 0)
    journal = opened(disk)
    cut_after = 0
    seen = set()
    while True:
        cut_after += 1
        disk.cut_after(cut_after)
        try:
            journal.append_many([entry], [SEAT_FIVE])
        except JournalFault:
            journal.close()  # lets go of what the cut left
            disk.restore()
            journal = opened(disk)
            found = journal.last_sequence, journal.moments()
            assert found in ((0, {}), (1, {1: [SEAT_FIVE]}))
            seen.add(found[0])
            if found[0]:
                break
        else:
            disk.cancel_cut()
            seen.add(1)
            break
    journal.close()
    assert 1 in seen
    assert cut_after > 2


def test_a_journal_of_the_format_before_is_brought_up_to_date_with_all_its_records(
    disk: SimDisk,
) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    before = journal.records(0, 100)
    journal.close()
    force(disk, "DROP TABLE moment", "PRAGMA user_version = 2")
    again = opened(disk)
    assert again.records(0, 100) == before
    assert again.moments() == {}
    again.append_many([], [SEAT_FIVE])
    again.close()
    third = opened(disk)
    assert third.moments() == {len(before): [SEAT_FIVE]}
    third.close()


def test_a_damaged_moment_closes_the_table(disk: SimDisk) -> None:
    journal = opened(disk)
    journal.append_many([], [SEAT_FIVE])
    journal.close()
    force(disk, "UPDATE moment SET body = x'ff'")
    again = opened(disk)
    with pytest.raises(JournalFault, match="pressed last"):
        again.moments()
    again.close()
