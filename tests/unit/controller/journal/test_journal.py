"""The journal: recording, reading and reopening."""

from __future__ import annotations

import pytest

from controller.journal.records import Entry
from protocol.proof import chain
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from sim.storage.disk import SimDisk
from tests.kit.journals import JOURNAL_ID, add, opened, play_round


def test_a_new_journal(disk: SimDisk) -> None:
    journal = opened(disk)
    assert journal.journal_id == JOURNAL_ID
    assert (journal.last_sequence, journal.outbox.acked_sequence, journal.outbox.backlog) == (
        0,
        0,
        0,
    )
    assert journal.last_digest == chain.first_digest(JOURNAL_ID)
    assert journal.records.after(0, 10) == []
    assert journal.beside.settings() is None
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
    assert journal.records.after(0, 10) == [first, second]
    assert journal.records.after(1, 10) == [second]
    assert journal.records.after(0, 1) == [first]
    journal.close()


def test_reopening_finds_everything(disk: SimDisk) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    journal.outbox.acknowledge(1)
    journal.close()
    again = opened(disk)
    assert (again.journal_id, again.last_sequence, again.outbox.acked_sequence) == (
        JOURNAL_ID,
        2,
        1,
    )
    assert again.last_digest == journal.last_digest
    add(again, events.RoundStart(2, (), ()))
    assert [record.sequence for record in again.records.after(0, 10)] == [1, 2, 3]
    again.close()


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


def test_last_sequence_of_a_kind(disk: SimDisk) -> None:
    journal = opened(disk)
    play_round(journal, 1)
    play_round(journal, 2)
    assert journal.records.last_sequence_of(events.ROUND_START) == 3
    assert journal.records.last_sequence_of(events.ROUND_START, before_sequence=3) == 1
    assert journal.records.last_sequence_of(events.CLAIM) == 0
    journal.close()
