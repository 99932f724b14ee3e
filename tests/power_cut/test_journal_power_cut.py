"""A power cut at any instant loses no record that was told of, and never leaves a gap."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.records import JournalRecord
from protocol.wire import events
from sim.storage.disk import SimDisk
from tests.power_cut.journal_under_cuts import PATH, JournalUnderCuts, broken_seeds

SEEDS = range(300)
BATCH = 50


@pytest.mark.parametrize("first", range(0, len(SEEDS), BATCH))
def test_nothing_told_is_ever_lost(first: int) -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS[first : first + BATCH]:
        run = JournalUnderCuts(seed)
        try:
            run.run()
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        seen += run.seen
    # A harness that never reaches these would prove nothing.
    assert seen["cut while recording"] > BATCH / 2
    assert seen["cut while opening"] > 0
    assert seen["kept although never told of"] > 0
    assert seen["trimmed"] > 0


def test_teeth_a_commit_that_is_not_synced_is_caught() -> None:
    assert len(broken_seeds(SEEDS[:40], synchronous="NORMAL", lying=False)) > 20


def test_teeth_a_disk_that_lies_about_syncing_is_caught() -> None:
    assert len(broken_seeds(SEEDS[:40], synchronous="FULL", lying=True)) > 20


def _script(journal: Journal, told: list[JournalRecord]) -> None:
    """A short life with everything in it: rounds, an acknowledgement, a trim, settings."""
    for number in (1, 2, 3):
        told.append(journal.append(*_event(events.RoundStart(number, ("1A",), ()))))
        told.append(journal.append(*_event(events.RoundEnd(number))))
        journal.outbox.acknowledge(journal.last_sequence)
    journal.outbox.trim()
    told.append(journal.adopt_settings(b"settings", 0, 0))
    journal.beside.count_boot()


def _event(body: events.EventBody) -> tuple[int, dict[int, object], int, int]:
    return body.KIND, body.to_body(), 0, 0


def _cut_at(operation: int, seed: int) -> bool:
    """Plays the script with a cut at one operation; True when the script ended before it."""
    disk = SimDisk(seed)
    disk.cut_after(operation)
    told: list[JournalRecord] = []
    with suppress(JournalFault):
        _play(disk, told)
    ended = disk.powered
    disk.cut_power()
    disk.restore()
    _check_told(disk, told)
    disk.close()
    return ended


def _play(disk: SimDisk, told: list[JournalRecord]) -> None:
    journal = Journal.open(PATH, disk.vfs_name, bytes, wal_bytes=8 * 1024)
    journal._disk.connection.pragma("wal_autocheckpoint", 4)
    try:
        _script(journal, told)
    finally:
        journal.close()


def _check_told(disk: SimDisk, told: list[JournalRecord]) -> None:
    journal = Journal.open(PATH, disk.vfs_name, bytes, wal_bytes=8 * 1024)
    kept = journal.records.after(journal.records.first_sequence - 1, 1000)
    missing = [
        record for record in told[journal.records.first_sequence - 1 :] if record not in kept
    ]
    assert not missing
    assert [record.sequence for record in kept] == list(
        range(journal.records.first_sequence, journal.last_sequence + 1)
    )
    if told and told[-1].kind == events.SETTINGS:
        stored = journal.beside.settings()
        assert stored is not None
        assert stored.body == b"settings"
    journal.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_cut_at_every_single_operation(seed: int) -> None:
    operation = 1
    while not _cut_at(operation, seed):
        operation += 1
    assert operation > 100  # creation, growth, commits, checkpoints, trim, close
