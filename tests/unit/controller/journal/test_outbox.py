"""What is acknowledged, what is forgotten, and what happens when too much waits."""

from __future__ import annotations

import pytest

from controller.journal import outbox as journal_outbox
from controller.journal.file import JournalFault
from protocol.wire import events
from sim.storage.disk import SimDisk
from tests.kit.journals import add, force, opened, play_round


def test_acknowledging_shrinks_the_backlog_and_never_goes_back(disk: SimDisk) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    assert journal.outbox.backlog == 2
    journal.outbox.acknowledge(2)
    journal.outbox.acknowledge(1)
    assert (journal.outbox.acked_sequence, journal.outbox.backlog) == (2, 0)
    with pytest.raises(JournalFault, match=r"Record 3 was acknowledged, but the last one is 2\."):
        journal.outbox.acknowledge(3)
    journal.close()


def test_a_power_cut_may_cost_an_acknowledgement_but_never_a_record(disk: SimDisk) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    journal.outbox.acknowledge(1)
    play_round(journal, 2)  # stores the acknowledgement above
    journal.outbox.acknowledge(4)
    disk.cut_power()
    with pytest.raises(JournalFault):
        journal.close()
    disk.restore()
    again = opened(disk)
    assert (again.last_sequence, again.outbox.acked_sequence) == (4, 1)
    again.close()


def test_trim_keeps_the_last_finished_round_and_what_follows(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2, 3):
        play_round(journal, number)
    add(journal, events.RoundStart(4, (), ()))
    journal.outbox.acknowledge(7)
    assert journal.outbox.trim() == 4
    kept = journal.records.after(journal.records.first_sequence - 1, 10)
    assert [record.sequence for record in kept] == [5, 6, 7]
    assert kept[0].kind == events.ROUND_START
    assert journal.outbox.trim() == 0
    journal.close()
    again = opened(disk)  # the chain is checked from the anchor
    assert again.records.after(4, 10) == kept
    assert again.records.first_sequence == 5
    assert add(again, events.RoundEnd(4)).sequence == 8
    again.close()


def test_what_was_forgotten_stays_acknowledged_after_a_power_cut(disk: SimDisk) -> None:
    """Catches: a unit that wants to send what it no longer has, and can never connect again."""
    journal = opened(disk)
    for number in (1, 2, 3):
        play_round(journal, number)
    journal.outbox.acknowledge(6)
    assert journal.outbox.trim() == 4
    disk.cut_power()
    with pytest.raises(JournalFault):
        journal.close()
    disk.restore()
    again = opened(disk)
    assert again.outbox.acked_sequence == 6
    again.close()


def test_trim_never_takes_what_is_not_acknowledged(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2, 3):
        play_round(journal, number)
    journal.outbox.acknowledge(3)
    assert journal.outbox.trim() == 3
    assert journal.records.first_sequence == 4
    journal.close()


def test_trim_before_any_round_has_ended_takes_nothing(disk: SimDisk) -> None:
    journal = opened(disk)
    add(journal, events.Boot(1, "test", ""))
    add(journal, events.RoundStart(1, (), ()))
    journal.outbox.acknowledge(2)
    assert journal.outbox.trim() == 0
    journal.close()


def test_trimmed_records_cannot_be_skipped_over(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2):
        play_round(journal, number)
    journal.outbox.acknowledge(4)
    journal.outbox.trim()
    with pytest.raises(JournalFault, match=r"up to 2 are no longer kept; those after 1 were asked"):
        journal.records.after(1, 10)
    journal.close()


def test_a_trimmed_chain_still_detects_an_altered_anchor(disk: SimDisk) -> None:
    journal = opened(disk)
    for number in (1, 2):
        play_round(journal, number)
    journal.outbox.acknowledge(4)
    journal.outbox.trim()
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
    journal.outbox.acknowledge(5)
    assert journal.records.baseline.claim_number == 0
    assert journal.outbox.trim() == 3
    journal.close()
    again = opened(disk)
    assert again.records.baseline.claim_number == 17
    again.close()


def test_old_records_leave_by_themselves(disk: SimDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_outbox, "RETAINED_RECORDS_MAX", 20)
    journal = opened(disk)
    for number in range(1, 51):
        play_round(journal, number)
        journal.outbox.acknowledge(journal.last_sequence)
        assert journal.outbox.record_count <= 22
    assert journal.last_sequence == 100
    journal.close()
    opened(disk).close()


def test_capacity_warns_then_says_full_then_refuses(
    disk: SimDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_outbox, "RESERVE_RECORDS", 2)
    journal = opened(disk, capacity_records_max=10)
    seen = []
    for number in range(1, 13):
        add(journal, events.RoundEnd(number))
        seen.append((journal.outbox.nearly_full, journal.outbox.full))
    assert seen == [(False, False)] * 7 + [(True, False)] * 2 + [(True, True)] * 3
    with pytest.raises(JournalFault, match="holds 12 records and is full; 12 of them wait"):
        add(journal, events.RoundEnd(13))
    assert journal.last_sequence == 12
    journal.outbox.acknowledge(12)  # being full is not a fault of the disk: it goes on
    journal.close()


def test_acknowledged_records_stay_until_half_of_the_room_is_taken(disk: SimDisk) -> None:
    """Catches: evidence forgotten while there is room for it, or room that is never made."""
    journal = opened(disk, capacity_records_max=10)
    for number in (1, 2):
        play_round(journal, number)
    add(journal, events.RoundStart(3, (), ()))
    journal.outbox.acknowledge(5)
    assert journal.outbox.record_count == 5
    add(journal, events.RoundEnd(3))
    journal.outbox.acknowledge(6)
    assert journal.outbox.record_count == 2, "the last finished round stays"
    journal.close()
