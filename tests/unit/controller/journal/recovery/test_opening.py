"""What a new journal records of the one before it: all that is proven and not delivered, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.journal.records import Entry, Salvaged
from controller.journal.recovery.opening import RecoveryFault, go_on, restored_entries
from controller.journal.recovery.salvage import END_MARK
from protocol.proof import chain, lineage
from protocol.wire import events, messages
from protocol.wire.rows import NO_COUNTERS, Mark, TakenJournal
from sim.storage.disk import SimDisk
from tests.kit.journals import add, opened

JOURNAL = b"the-old-journal!"
OLDER = b"an-older-journal"
NOW = (77, 1_790_000_000_000)


def chained(count: int, journal_id: bytes = JOURNAL, word: str = "No.") -> list[Salvaged]:
    """Records 1 to `count` of a journal, all proven."""
    return continued([], count, journal_id, word)


def continued(
    before: list[Salvaged], count: int, journal_id: bytes = JOURNAL, word: str = "No."
) -> list[Salvaged]:
    lines = list(before)
    digest = lines[-1].digest if lines else chain.first_digest(journal_id)
    for sequence in range(len(lines) + 1, len(lines) + count + 1):
        body = events.Refused("START", f"{word} {sequence}").to_body()
        digest = chain.event_digest(digest, sequence, events.REFUSED, body, 5, 6)
        encoded = chain.encode_body(body)
        lines.append(Salvaged(journal_id, sequence, events.REFUSED, encoded, 5, 6, digest, 1))
    return lines


def standing_at(line: Salvaged, *marked: Salvaged) -> messages.State:
    """The manager has taken in as far as this record."""
    marks = tuple(Mark(each.sequence, each.digest) for each in marked)
    place = (line.journal_id, line.sequence, line.digest)
    return messages.State(*place, 4, 2, NO_COUNTERS, 0, (), marks)


def restored(entries: list[Entry]) -> events.Restored:
    assert entries[0].kind == events.RESTORED
    return events.Restored.from_body(entries[0].body)


def anew(entries: list[Entry]) -> list[int]:
    """The places in the old journal of what is recorded anew."""
    rest = [each for each in entries[1:] if each.kind != events.DIVERGED]
    return [lineage.earlier_places(each.body)[0].sequence for each in rest]


def diverged(entries: list[Entry]) -> list[int]:
    found = [each for each in entries if each.kind == events.DIVERGED]
    return [events.Diverged.from_body(each.body).sequence for each in found]


def test_what_the_manager_has_not_taken_in_is_recorded_anew_in_order() -> None:
    lines = chained(5)
    entries = restored_entries(standing_at(lines[2], lines[2]), [], lines, NOW)
    said = restored(entries)
    assert (said.journal_id, said.last_sequence) == (JOURNAL, 3)
    assert (said.round_number, said.claim_number) == (4, 2)
    assert (said.salvaged, said.unreadable) == (2, 0)
    assert anew(entries) == [4, 5]
    assert not any(lineage.is_known(each.body) for each in entries[1:]), "it has to be booked"
    assert diverged(entries) == []
    assert [(each.monotonic_ms, each.wall_ms) for each in entries] == [NOW, (5, 6), (5, 6)]


def test_what_the_manager_tells_comes_before_what_was_salvaged() -> None:
    lines = chained(3)
    told = messages.Event(9, events.ROUND_END, events.RoundEnd(4).to_body(), 1, 2, bytes(32))
    entries = restored_entries(standing_at(lines[1], lines[1]), [told], lines, NOW)
    kinds = [each.kind for each in entries]
    assert kinds == [events.RESTORED, events.ROUND_END, events.REFUSED]
    assert (entries[1].monotonic_ms, entries[1].wall_ms) == (1, 2)


def test_records_that_cannot_be_read_are_counted() -> None:
    lines = chained(8)
    kept = [line for line in lines if line.sequence not in (5, 6)]
    kept[-2] = replace_follows(kept[-2])  # 7 comes after what is lost
    entries = restored_entries(standing_at(lines[3]), [], kept, NOW)
    assert anew(entries) == [8]
    assert (restored(entries).salvaged, restored(entries).unreadable) == (1, 3)


def replace_follows(line: Salvaged) -> Salvaged:
    return line._replace(follows=0)


def test_an_end_mark_counts_as_far_as_the_journal_had_come() -> None:
    lines = chained(4)
    end = Salvaged(JOURNAL, 9, END_MARK, b"", 0, 0, b"", 0)
    entries = restored_entries(standing_at(lines[3], lines[3]), [], [*lines, end], NOW)
    assert (restored(entries).salvaged, restored(entries).unreadable) == (0, 5)
    assert len(entries) == 1


def test_the_managers_last_digest_proves_the_next_record() -> None:
    """Its predecessor was lost with a page, so nothing in the files proves it."""
    lines = chained(6)
    apart = [replace_follows(lines[4]), lines[5]]
    entries = restored_entries(standing_at(lines[3]), [], apart, NOW)
    assert anew(entries) == [5, 6]
    assert restored(entries).unreadable == 0
    without = restored_entries(standing_at(lines[2]), [], apart, NOW)
    assert anew(without) == [6]
    assert restored(without).unreadable == 2


def test_a_record_at_the_next_place_that_nothing_proves_is_lost() -> None:
    """Catches: booking a damaged record because its number is the one that comes next."""
    lines = chained(4)
    damaged = replace_follows(lines[3])._replace(wall_ms=7)
    entries = restored_entries(standing_at(lines[2]), [], [damaged], NOW)
    assert anew(entries) == []
    assert (restored(entries).salvaged, restored(entries).unreadable) == (0, 1)


def test_a_record_that_does_not_follow_the_managers_last_is_evidence_and_no_booking() -> None:
    """A copy of the disk went on first: the manager holds another record 3."""
    lines = chained(4)
    others = continued(lines[:2], 1, word="Yes.")
    state = standing_at(others[2], others[2], lines[1], lines[0])
    entries = restored_entries(state, [], lines, NOW)
    assert diverged(entries) == [3, 4]
    assert anew(entries) == []
    assert (restored(entries).salvaged, restored(entries).unreadable) == (0, 0)


def test_a_journal_that_parted_right_after_the_managers_last_record_is_evidence() -> None:
    lines = chained(5)
    other = lines[3]._replace(digest=bytes(32))
    state = standing_at(other, lines[2])  # no mark names the record that differs
    entries = restored_entries(state, [], [*lines[:3], lines[4]], NOW)
    assert diverged(entries) == [5]
    assert anew(entries) == []


def test_records_that_only_the_marks_do_not_name_are_told_as_well() -> None:
    """Between the last mark that is equal and the manager's last, others may be its own."""
    lines = chained(6)
    entries = restored_entries(standing_at(lines[3], lines[1]), [], lines, NOW)
    assert diverged(entries) == [3, 4]
    assert anew(entries) == [5, 6]


def test_another_units_journal_is_refused() -> None:
    lines = chained(4)
    anonymous = [line._replace(journal_id=b"") for line in lines]
    state = replace(standing_at(lines[3]), last_digest=bytes(32))
    with pytest.raises(RecoveryFault, match="record 4 is not the one that the Game Manager has"):
        restored_entries(state, [], anonymous, NOW)
    state = replace(standing_at(lines[2]), last_digest=bytes(32))
    with pytest.raises(RecoveryFault, match="record 4 does not follow"):
        restored_entries(state, [], [anonymous[3]], NOW)


def test_what_an_older_journal_left_is_recorded_as_far_as_it_was_not_taken() -> None:
    lines, older = chained(2), chained(5, OLDER)
    state = replace(standing_at(lines[1]), earlier=(TakenJournal(OLDER, 3),))
    entries = restored_entries(state, [], [*older, *lines], NOW)
    assert anew(entries) == [4, 5]
    unknown = restored_entries(standing_at(lines[1]), [], [*older, *lines], NOW)
    assert anew(unknown) == [1, 2, 3, 4, 5]
    unproven = [replace_follows(line) for line in older]
    assert anew(restored_entries(state, [], [*unproven, *lines], NOW)) == []


@pytest.mark.parametrize("kind", [events.SEAL, events.SETTINGS, events.RESTORED])
def test_what_a_journal_says_of_itself_is_not_said_by_another(kind: int) -> None:
    lines = chained(3)
    lines[2] = lines[2]._replace(kind=kind, follows=1)
    apart = [line._replace(journal_id=OLDER) for line in lines]
    entries = restored_entries(standing_at(chained(1)[0]), [], apart, NOW)
    assert anew(entries) == [1, 2]


def test_what_the_manager_had_told_of_is_not_recorded_from_the_damaged_journal() -> None:
    lines = chained(2)
    place = lineage.EarlierPlace(OLDER, 7, bytes(32))
    body = chain.decode_body(lines[1].body)
    told = chain.encode_body(lineage.recorded_anew(body, place, known=True))
    known = [lines[0], lines[1]._replace(body=told)]
    apart = [line._replace(journal_id=OLDER) for line in known]
    entries = restored_entries(standing_at(chained(1)[0]), [], apart, NOW)
    assert anew(entries) == [1]


def test_a_journal_in_which_a_round_was_played_is_no_new_one() -> None:
    """Catches: a sound journal that goes on from what the manager tells, and counts twice."""
    disk = SimDisk(1)
    journal = opened(disk)
    add(journal, events.RoundStart(1, ("2A",), ()))
    before = journal.last_sequence
    with pytest.raises(RecoveryFault, match="for a new one; it is not"):
        go_on(journal, standing_at(chained(3)[2]), [], NOW)
    assert journal.last_sequence == before
    journal.close()
    disk.close()


def test_where_the_table_stands_is_recorded_once_however_often_it_is_told() -> None:
    disk = SimDisk(1)
    journal = opened(disk)
    state = standing_at(chained(3)[2])
    assert [each.kind for each in go_on(journal, state, [], NOW)] == [events.RESTORED]
    assert go_on(journal, state, [], NOW) == []
    assert journal.last_sequence == 1
    journal.close()
    disk.close()


def test_what_is_recorded_anew_says_in_which_journal_it_stood_first() -> None:
    """Catches: a record of an older journal that the manager looks for in the newest one.

    Of a journal whose own name was lost, it is the one that the manager told of.
    """
    lines = chained(4)
    nameless = [line._replace(journal_id=b"") for line in lines[2:]]
    older = chained(2, OLDER, "Older.")
    entries = restored_entries(standing_at(lines[1]), [], [*older, *nameless], NOW)
    places = [lineage.earlier_places(each.body)[0] for each in entries[1:]]
    assert [(each.journal_id, each.sequence) for each in places] == [
        (OLDER, 1),
        (OLDER, 2),
        (JOURNAL, 3),
        (JOURNAL, 4),
    ]
