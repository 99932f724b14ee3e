"""A power cut at any instant loses no record that was told of, and never leaves a gap."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

from controller.journal.journal import Journal
from controller.journal.records import JournalRecord
from protocol.wire import events
from sim.storage.disk import SimDisk
from tests.kit.cuts_beside import CutsBeside, Readers
from tests.power_cut.journal_under_cuts import PATH, JournalUnderCuts, broken_seeds

SEEDS = range(120)
BATCH = 40


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


def _play(disk: SimDisk, told: list[JournalRecord]) -> None:
    journal = Journal.open(PATH, disk.vfs_name, bytes, wal_bytes=8 * 1024)
    journal._disk.connection.pragma("wal_autocheckpoint", 4)
    try:
        _script(journal, told)
    finally:
        journal.close()


class _Kept(NamedTuple):
    first_sequence: int
    records: list[JournalRecord]
    settings: bytes | None


def _kept(disk: SimDisk) -> _Kept:
    journal = Journal.open(PATH, disk.vfs_name, bytes, wal_bytes=8 * 1024)
    first_sequence = journal.records.first_sequence
    kept = journal.records.after(first_sequence - 1, 1000)
    assert [record.sequence for record in kept] == list(
        range(first_sequence, journal.last_sequence + 1)
    )
    stored = journal.beside.settings()
    journal.close()
    return _Kept(first_sequence, kept, stored.body if stored else None)


def _check_told(kept: _Kept, told: list[JournalRecord]) -> None:
    expected = told[kept.first_sequence - 1 :]
    assert kept.records[: len(expected)] == expected
    if told and told[-1].kind == events.SETTINGS:
        assert kept.settings == b"settings"


@pytest.mark.parametrize("seed", range(4))
def test_a_cut_at_every_single_operation(seed: int) -> None:
    disk, told = SimDisk(seed), list[JournalRecord]()
    cuts = CutsBeside(disk, seed, told.copy, Readers(PATH, _kept, _check_told), draws=2)
    _play(disk, told)
    cuts.check()
    # Creation, growth, commits, checkpoints, trim, close: each torn in another way.
    assert disk.operation_count > 100
    assert cuts.count > 150
    cuts.close()
    disk.close()


# -- cuts beside a life: a hundred times as many ------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_nothing_told_is_lost_whenever_a_life_ends(seed: int) -> None:
    run = JournalUnderCuts(seed, beside=True)
    run.run()
    assert run.cut_count > 300


def test_teeth_cuts_beside_a_life_catch_both() -> None:
    assert broken_seeds(range(2), "NORMAL", lying=False, beside=True) == [0, 1]
    assert broken_seeds(range(2), "FULL", lying=True, beside=True) == [0, 1]
