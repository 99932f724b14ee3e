"""Two checked copies of the critical state: compared, repaired only from the chain, or refused."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from controller.core.round.state import RoundState
from controller.journal import state_check
from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.state_image import Baseline, CriticalState, head_of, round_image
from protocol.proof import lineage
from protocol.wire import events, profile
from protocol.wire.errors import ProtocolError
from protocol.wire.rows import AwardLine, Counters, EnvyLine
from sim.storage.disk import SimDisk

PATH = "journal.db"
LINES = (AwardLine("1A", "four-aces", 800_000, "main", 1),)
ENVY = (EnvyLine("2A", 10_000),)


def opened(disk: SimDisk) -> Journal:
    return Journal.open(PATH, disk.vfs_name, bytes, wal_bytes=16 * 1024)


def add(journal: Journal, *bodies: events.EventBody) -> None:
    for body in bodies:
        journal.append(body.KIND, body.to_body(), 0, 0)


def win(journal: Journal, number: int) -> None:
    add(
        journal,
        events.RoundStart(number, ("1A", "2A"), (), (), 200),
        events.Claim(number, number, (), False),
        events.Settled(number, number, LINES, ENVY),
        events.RoundEnd(number),
    )


def image_of(journal: Journal) -> bytes:
    state = CriticalState(journal.records.baseline)
    for record in journal.records.after(journal.records.first_sequence - 1, 1000):
        state.apply(record.kind, record.body)
    return round_image(state.round)


def force(disk: SimDisk, statement: str, values: tuple[Any, ...] = ()) -> None:
    connection = apsw.Connection(PATH, vfs=disk.vfs_name)
    connection.pragma("locking_mode", "EXCLUSIVE")
    for (trigger,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute(statement, values)
    connection.close()


def test_one_press_is_one_transaction(disk: SimDisk) -> None:
    """Both copies ride along: no second sync, so a press waits no longer."""
    journal = opened(disk)
    add(journal, events.RoundStart(1, ("1A",), ()))
    syncs = 0

    def count() -> None:
        nonlocal syncs
        syncs += 1

    original = SimDisk.sync

    def sync(self: SimDisk, file: Any) -> None:
        count()
        original(self, file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimDisk, "sync", sync)
        add(journal, events.Hand(1, "1A", "four-aces"))
    assert syncs == 1
    journal.close()


@pytest.mark.parametrize("tables", [("state_a",), ("state_b",), ("state_a", "state_b")])
@pytest.mark.parametrize("how", ["image = x'00'", "digest = zeroblob(32)", "gone"])
def test_damaged_copies_are_repaired_from_the_chain_at_the_start(
    tables: tuple[str, ...], how: str
) -> None:
    disk = SimDisk(1)
    journal = opened(disk)
    win(journal, 1)
    add(journal, events.RoundStart(2, ("3A",), ()))
    image = image_of(journal)
    journal.close()
    for table in tables:
        force(disk, f"DELETE FROM {table}" if how == "gone" else f"UPDATE {table} SET {how}")
    again = opened(disk)
    assert again.repair == state_check.REPAIRED_AT_START
    assert again.check_memory(image) == ""
    again.close()
    third = opened(disk)
    assert third.repair == ""
    third.close()
    disk.close()


def test_records_that_the_copies_prove_are_missed(disk: SimDisk) -> None:
    """A chain that was cut short verifies by itself; the copies know that it was longer."""
    journal = opened(disk)
    win(journal, 1)
    journal.close()
    force(disk, "DELETE FROM record WHERE sequence >= 3")
    with pytest.raises(JournalFault, match="lost its newest records: 4 were recorded, 2 are there"):
        opened(disk)


def test_one_intact_copy_is_enough_to_miss_them(disk: SimDisk) -> None:
    journal = opened(disk)
    win(journal, 1)
    journal.close()
    force(disk, "DELETE FROM record WHERE sequence >= 3")
    force(disk, "DELETE FROM state_b")
    with pytest.raises(JournalFault, match="lost its newest records"):
        opened(disk)


def test_the_copies_of_another_journal_are_refused(disk: SimDisk) -> None:
    other = SimDisk(2)
    journal = Journal.open(PATH, other.vfs_name, lambda n: b"\1" * n, wal_bytes=16 * 1024)
    image, digest = journal._disk.connection.execute("SELECT image, digest FROM state_a").fetchone()
    journal.close()
    other.close()
    opened(disk).close()
    force(disk, "UPDATE state_a SET image = ?, digest = ?", (image, digest))
    with pytest.raises(JournalFault, match="state of another journal"):
        opened(disk)


def test_before_use_a_round_that_went_wrong_in_memory_is_found(disk: SimDisk) -> None:
    journal = opened(disk)
    add(journal, events.RoundStart(1, ("1A",), ()))
    image = image_of(journal)
    assert journal.check_memory(image) == ""
    wrong = RoundState()
    assert journal.check_memory(round_image(wrong)) == state_check.REPAIRED
    assert journal.check_memory(image) == ""
    journal.close()


def test_before_use_the_medium_is_read_and_not_the_cache(disk: SimDisk) -> None:
    """A copy goes bad in the file while the unit runs: the next START finds and repairs it."""
    journal = opened(disk)
    win(journal, 1)
    image = image_of(journal)
    stored = bytes(journal._disk.connection.execute("SELECT image FROM state_a").get)
    damaged = 0
    for name in disk.names():
        content = disk._directory.live[name].live
        at = content.find(stored)
        while at >= 0:
            content[at + 5] ^= 1
            damaged += 1
            at = content.find(stored, at + 1)
    assert damaged >= 2
    assert journal.check_memory(image) == state_check.REPAIRED
    assert journal.check_memory(image) == ""
    journal.close()


def test_before_use_a_file_that_ends_before_what_was_recorded_closes_the_table(
    disk: SimDisk,
) -> None:
    """Catches: records that are gone, made good by believing the file against memory."""
    journal = opened(disk)
    add(journal, events.RoundStart(1, ("2A",), ()))
    journal._memory.last_sequence += 1
    with pytest.raises(JournalFault, match="ends at record 1, but 2 were recorded"):
        journal.check_memory(round_image(journal._memory.state.round))
    journal.close()


def test_before_use_a_record_that_went_bad_closes_the_table(disk: SimDisk) -> None:
    journal = opened(disk)
    win(journal, 1)
    image = image_of(journal)
    digest = journal.records.after(1, 1)[0].digest
    for name in disk.names():
        content = disk._directory.live[name].live
        at = content.find(digest)
        while at >= 0:
            content[at] ^= 1
            at = content.find(digest, at + 1)
    # The copies still agree; something else made the unit look at the whole chain.
    with pytest.raises(JournalFault, match="altered or damaged"):
        journal.check_memory(b"not the round")
    with pytest.raises(JournalFault, match="altered or damaged"):
        journal.check_memory(image)  # and it stays closed
    journal.close()


def test_a_copy_that_was_damaged_is_told_after_an_update_as_well(
    disk: SimDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.journal.state_image.SOFTWARE", "underfelt 0.0.9")
    journal = opened(disk)
    win(journal, 1)
    journal.close()
    monkeypatch.undo()
    force(disk, "UPDATE state_b SET image = x'00'")
    again = opened(disk)
    assert again.repair == state_check.REPAIRED_AT_START
    again.close()


def test_after_an_update_the_copies_are_written_anew_without_a_word(
    disk: SimDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.journal.state_image.SOFTWARE", "underfelt 0.0.9")
    journal = opened(disk)
    win(journal, 1)
    journal.close()
    monkeypatch.undo()
    again = opened(disk)
    assert again.repair == ""
    again.close()


@pytest.mark.parametrize(
    "other", [{1: "settings"}, "abcdef", b"abcdef", 7, [], ["", b"", "1", b""]]
)
def test_what_is_no_image_is_refused_on_every_python(other: Any) -> None:
    """Catches: slicing whatever was decoded. Python 3.12 and newer look a slice up in a dict."""
    with pytest.raises(ProtocolError, match="no image"):
        head_of(profile.encode(other))


# ---- counters ----


def test_counters_follow_the_records_and_outlive_trimming(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2, 3):
        win(journal, number)
    assert journal.counters_at(12) == Counters(6, 600_000_000, 3, 2_430_000, 3)
    assert journal.counters_at(5) == Counters(4, 400_000_000, 1, 810_000, 2)
    assert journal.counters_at(4) == Counters(2, 200_000_000, 1, 810_000, 1)
    journal.outbox.acknowledge(12)
    assert journal.outbox.trim() == 8
    journal.close()
    again = opened(disk)
    assert again.counters_at(12) == Counters(6, 600_000_000, 3, 2_430_000, 3)
    assert again.records.baseline.claim_number == 2
    again.close()


def test_an_acknowledged_history_keeps_one_step_only(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in range(1, 20):
        win(journal, number)
        journal.outbox.acknowledge(journal.last_sequence)
    assert len(journal._memory._steps) == 1
    journal.close()


def test_what_the_manager_had_counted_before_is_not_counted_again() -> None:
    """Catches: bets and wins of the journal before counted twice, and the table stopped for it."""
    start = events.RoundStart(1, ("1A",), (), (), 100).to_body()
    lines = (AwardLine("1A", "four-aces", 900, "main", 1),)
    settled = events.Settled(1, 1, lines, ()).to_body()
    place = lineage.EarlierPlace(bytes(16), 1, bytes(32))
    for known in (True, False):
        state = CriticalState(Baseline())
        for kind, body in ((events.ROUND_START, start), (events.SETTLED, settled)):
            state.apply(kind, lineage.recorded_anew(body, place, known=known))
        counted = (state.counters.wager_count, state.counters.win_count, state.counters.paid_cents)
        assert counted == ((0, 0, 0) if known else (1, 1, 900))
