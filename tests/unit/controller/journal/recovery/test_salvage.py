"""Reading a damaged journal past SQLite: all that is whole, nothing that is not."""

from __future__ import annotations

import hashlib
import random
from contextlib import suppress
from dataclasses import replace

import pytest

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.records import JournalRecord, Salvaged
from controller.journal.recovery.salvage import (
    END_MARK,
    Salvage,
    _Candidate,
    _Finds,
    follows,
    salvage,
)
from controller.journal.recovery.sqlite_pages import COMMITTED, FOLDED, LEFT_OVER, Row, rows_of
from controller.journal.state_image import Baseline, CriticalState
from protocol.proof import chain
from protocol.wire import events
from protocol.wire.rows import Counters
from sim.storage.disk import SimDisk
from tests.kit.message_samples import SETTINGS_IN_FULL

PATH = "journal.db"
RECORDS = 60


def written(
    seed: int = 1, records: int = RECORDS, checkpoint: int = 12
) -> tuple[bytes, bytes, list[JournalRecord]]:
    """A journal that lost its power: part folded into the database, part only in the log."""
    disk = SimDisk(seed)
    chance = random.Random(seed)
    journal = Journal.open(PATH, disk.vfs_name, chance.randbytes, wal_bytes=48 * 1024)
    journal._disk.connection.pragma("wal_autocheckpoint", checkpoint)
    journal.adopt_settings(SETTINGS_IN_FULL.encode(), 0, 0)
    for number in range(1, records + 1):
        body = events.Fault("sensor-open", "3A", True, "x" * chance.randrange(1, 190))
        journal.append(body.KIND, body.to_body(), number, number)
    told = journal.records.after(0, 1000)
    return *_after_a_power_cut(disk, journal), told


def _after_a_power_cut(disk: SimDisk, journal: Journal) -> tuple[bytes, bytes]:
    disk.cut_power()
    with suppress(JournalFault):  # its disk has no power
        journal.close()
    disk.restore()
    files = disk.read_file(PATH), disk.read_file(f"{PATH}-wal")
    disk.close()
    return files


def as_records(saved: Salvage) -> list[JournalRecord]:
    return [
        JournalRecord(
            line.sequence,
            line.kind,
            chain.decode_body(line.body),
            line.monotonic_ms,
            line.wall_ms,
            line.digest,
        )
        for line in saved.records
        if line.kind != END_MARK and line.follows
    ]


def test_an_undamaged_journal_comes_back_whole() -> None:
    database, log, told = written()
    saved = salvage(database, log)
    assert as_records(saved) == told
    assert saved.settings == SETTINGS_IN_FULL.encode()
    assert len(saved.journal_id) == 16


@pytest.mark.parametrize("seed", range(6))
def test_what_is_returned_was_recorded_whatever_was_damaged(seed: int) -> None:
    """Random bytes anywhere: fewer records may come back, never others."""
    database, log, told = written(seed, records=25)
    chance = random.Random(seed)
    for _ in range(12):
        damaged = [bytearray(database), bytearray(log)]
        for content in damaged:
            for _ in range(chance.randrange(1, 40)):
                at = chance.randrange(len(content))
                content[at : at + 4] = chance.randbytes(4)
        found = as_records(salvage(bytes(damaged[0]), bytes(damaged[1])))
        assert [record for record in found if record not in told] == []
        assert len(found) >= len(told) // 3  # each record lies in several pages' versions


@pytest.mark.parametrize("size", [0, 1, 31, 32, 100, 4096, 5000])
def test_a_file_that_ends_early_is_no_trouble(size: int) -> None:
    database, log, told = written(records=10)
    for files in ((database[:size], log), (database, log[:size]), (database[:size], b"")):
        assert [record for record in as_records(salvage(*files)) if record not in told] == []


def test_noise_is_nothing() -> None:
    noise = random.Random(1).randbytes(8 * 4096)
    assert salvage(noise, noise).lines() == []


def test_an_altered_record_is_left_out_and_the_next_is_still_proven() -> None:
    database, log, told = written(records=10, checkpoint=0)
    body = chain.encode_body(told[4].body)
    changed = [content.replace(body, body[:-1] + b"y") for content in (database, log)]
    assert changed != [database, log]
    found = as_records(salvage(*changed))
    assert found == told[:4] + told[5:]


def test_mutation_without_the_digests_the_altered_record_would_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("controller.journal.recovery.salvage.follows", lambda *_: True)
    database, log, told = written(records=10, checkpoint=0)
    body = chain.encode_body(told[4].body)
    changed = [content.replace(body, body[:-1] + b"y") for content in (database, log)]
    assert as_records(salvage(*changed)) != told[:4] + told[5:]


def test_how_far_the_journal_had_come_is_known_when_its_end_is_gone() -> None:
    database, log, told = written(records=10, checkpoint=0)
    body = chain.encode_body(told[-1].body)
    saved = salvage(*(content.replace(body, body[:-1] + b"y") for content in (database, log)))
    assert as_records(saved) == told[:-1]
    end = saved.records[-1]
    assert (end.kind, end.sequence) == (END_MARK, told[-1].sequence)


def test_a_log_that_sqlite_would_not_believe_is_read_last() -> None:
    _, log, _ = written(records=5, checkpoint=0)
    damaged = bytearray(log)
    damaged[32 + 24 + 10] ^= 1
    assert {row.rank for row in rows_of(b"", bytes(damaged))} == {LEFT_OVER}
    assert {row.rank for row in rows_of(b"", log)} >= {COMMITTED}


def test_of_two_records_with_one_number_the_one_that_was_continued_counts() -> None:
    """Power cuts leave pages of writes that never counted: a second record 5, well formed."""
    database, log, told = written(records=10, checkpoint=0)
    stale_database, stale_log = _with_another_tail(told, at=5)
    saved = salvage(database + stale_database, log + stale_log[32:], b"")
    assert as_records(saved) == told


def _with_another_tail(told: list[JournalRecord], at: int) -> tuple[bytes, bytes]:
    disk = SimDisk(3)
    journal = Journal.open(PATH, disk.vfs_name, random.Random(1).randbytes, wal_bytes=8 * 1024)
    journal.adopt_settings(SETTINGS_IN_FULL.encode(), 0, 0)
    for record in told[1:at]:
        journal.append(record.kind, record.body, record.monotonic_ms, record.wall_ms)
    other = events.Refused("START", "never told")
    journal.append(other.KIND, other.to_body(), 7, 7)
    return _after_a_power_cut(disk, journal)


def test_the_files_know_better_than_anyone_which_journal_they_are() -> None:
    database, log, _ = written(records=3)
    own = salvage(database, log)
    assert salvage(database, log, b"another-journal!").journal_id == own.journal_id
    assert salvage(b"", b"", b"another-journal!").journal_id == b"another-journal!"


@pytest.mark.parametrize(
    ("rowid", "digest"), [(0, bytes(32)), (-3, bytes(32)), (7, bytes(31)), (7, b"")]
)
def test_a_row_that_can_be_no_record_is_not_taken_for_one(
    monkeypatch: pytest.MonkeyPatch, rowid: int, digest: bytes
) -> None:
    """Catches: one of the two signs being enough. A bad row would be kept as a record that only
    the manager can prove.
    """
    row = Row(rowid, (None, events.REFUSED, b"\xa0", 0, 0, digest), COMMITTED)
    monkeypatch.setattr("controller.journal.recovery.salvage.rows_of", lambda *_: [row])
    assert salvage(b"", b"").lines() == []
    good = Row(7, (None, events.REFUSED, b"\xa0", 0, 0, bytes(32)), COMMITTED)
    monkeypatch.setattr("controller.journal.recovery.salvage.rows_of", lambda *_: [good])
    assert [line.sequence for line in salvage(b"", b"").lines()] == [7]


def test_a_journal_that_lost_its_only_record_says_so() -> None:
    """Catches: counting from 1 where nothing was proven. The loss of record 1 was not told."""
    database, log, told = written(records=0, checkpoint=0)
    assert len(told) == 1
    body = chain.encode_body(told[0].body)
    saved = salvage(*(content.replace(body, body[:-1] + b"y") for content in (database, log)))
    assert [(line.kind, line.sequence) for line in saved.lines()] == [(END_MARK, 1)]


def salvaged(monkeypatch: pytest.MonkeyPatch, *rows: Row) -> Salvage:
    """Of files in which just these rows were found, in this order."""
    monkeypatch.setattr("controller.journal.recovery.salvage.rows_of", lambda *_: list(rows))
    return salvage(b"", b"", b"journal-id-16byt")


def proven(content: bytes, rank: int) -> Row:
    return Row(1, (None, content, hashlib.sha256(content).digest()), rank)


def test_of_several_settings_the_readable_ones_that_sqlite_would_read_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches: the search given up at settings of another software; a copy's rank taken from the
    last page that it was seen in.
    """
    older, newer = SETTINGS_IN_FULL.encode(), replace(SETTINGS_IN_FULL, seat_count=5).encode()
    unreadable = proven(b"\xa1\x01\x02", COMMITTED)
    for seen in (
        [unreadable, proven(newer, FOLDED)],
        [proven(newer, FOLDED), proven(older, LEFT_OVER)],
        [proven(older, LEFT_OVER), proven(newer, FOLDED)],
        [proven(newer, COMMITTED), proven(newer, LEFT_OVER), proven(older, FOLDED)],
        [proven(newer, LEFT_OVER), proven(newer, COMMITTED), proven(older, FOLDED)],
    ):
        assert salvaged(monkeypatch, *seen).settings == newer
    assert salvaged(monkeypatch, unreadable).settings == b""
    assert salvaged(monkeypatch, Row(1, (None, newer, bytes(32)), COMMITTED)).settings == b""


def test_of_two_records_that_nothing_proves_the_one_that_sqlite_would_read_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches: the rank of a record taken from the worst page that holds it."""

    def record(digest: int, rank: int) -> Row:
        return Row(7, (None, events.REFUSED, b"\xa0", 0, 0, bytes([digest]) * 32), rank)

    for seen in (
        [record(1, COMMITTED), record(1, LEFT_OVER), record(2, FOLDED)],
        [record(2, FOLDED), record(1, LEFT_OVER), record(1, COMMITTED)],
    ):
        (line,) = salvaged(monkeypatch, *seen).lines()
        assert (line.digest, line.follows) == (bytes([1]) * 32, 0)


def test_the_newest_image_tells_how_far_the_journal_had_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches: the image that was read last, or the smaller number, believed."""
    state = CriticalState(Baseline(0, Counters(0, 0, 0, 0, 0), b""))
    images = [
        proven(state.image(b"journal-id-16byt", sequence, bytes(32)), COMMITTED)
        for sequence in (9, 12, 11)
    ]
    (end,) = salvaged(monkeypatch, *images).lines()
    assert (end.kind, end.sequence) == (END_MARK, 12)


@pytest.mark.parametrize("is_restored", [True, False])
def test_what_was_carried_over_counts_until_it_was_recorded_anew(
    monkeypatch: pytest.MonkeyPatch, is_restored: bool
) -> None:
    """Catches: records of the journal before told twice, or forgotten with the first other one."""
    place = (b"an-older-journal", 3, events.REFUSED, b"\xa0", 0, 0, bytes(32), 1)
    kinds = [events.REFUSED, events.RESTORED if is_restored else events.BOOT]
    records = [
        Row(10 * number, (None, kind, b"\xa0", 0, 0, bytes([number]) * 32), COMMITTED)
        for number, kind in enumerate(kinds, 1)
    ]
    found = salvaged(monkeypatch, *records, Row(1, (None, *place), COMMITTED))
    assert [line.sequence for line in found.carried] == ([] if is_restored else [3])


@pytest.mark.parametrize("digest", [b"", bytes(31), bytes(33)], ids=len)
def test_a_record_follows_no_digest_that_is_none(digest: bytes) -> None:
    """Catches: a damaged digest that proves whatever comes after it."""
    body = chain.encode_body(events.RoundEnd(1).to_body())
    record = Salvaged(bytes(16), 2, events.ROUND_END, body, 1, 1, digest, 1)
    assert not follows(record, digest)


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_that_could_stand_at_a_place_the_next_record_has_signed_for_one(
    turned: bool,
) -> None:
    """Catches: an old copy of a record, booked in place of the one that was gone on from."""

    def made(sequence: int, word: str, before: bytes) -> _Candidate:
        body = chain.encode_body(events.Refused("START", word).to_body())
        digest = chain.encoded_event_digest(before, sequence, events.REFUSED, body, 5, 6)
        return _Candidate(sequence, events.REFUSED, body, 5, 6, digest)

    finds = _Finds(b"the-old-journal!")
    first = made(1, "First.", chain.first_digest(b"the-old-journal!"))
    right, other = made(2, "Right.", first.digest), made(2, "Other.", first.digest)
    third = made(3, "Third.", right.digest)
    second = [other, right] if turned else [right, other]
    chosen = finds._chosen({1: [first], 2: second, 3: [third]})
    assert [each.digest for each in chosen] == [first.digest, right.digest, third.digest]
    assert [each.follows for each in chosen] == [1, 1, 1]
