"""What is kept beside the records: settings, starts, and what was pressed so far."""

from __future__ import annotations

import pytest

from controller.journal.file import JournalFault
from controller.journal.records import Entry, Salvaged, StoredSettings
from protocol.wire import events
from protocol.wire.settings import settings_digest
from sim.storage.disk import SimDisk
from tests.kit.journals import SEAT_FIVE, force, opened, play_round

NO_SEAT = (1000, {1: 0, 2: "", 3: ""})
JOINED = (1002, {1: [[2, 5]]})


def test_settings_are_kept_as_they_came(disk: SimDisk) -> None:
    journal = opened(disk)
    journal.adopt_settings(b"one", 0, 0)
    journal.adopt_settings(b"two", 0, 0)
    journal.close()
    again = opened(disk)
    assert again.beside.settings() == StoredSettings(b"two", settings_digest(b"two"))
    again.close()


def test_adopting_settings_records_it_in_the_same_breath(disk: SimDisk) -> None:
    journal = opened(disk)
    record = journal.adopt_settings(b"settings", 1, 2)
    assert record.kind == events.SETTINGS
    stored = journal.beside.settings()
    assert stored is not None
    assert events.Settings.from_body(record.body).digest == stored.digest
    journal.close()


def test_altered_settings_are_refused(disk: SimDisk) -> None:
    journal = opened(disk)
    journal.adopt_settings(b"settings", 0, 0)
    journal.close()
    force(disk, "UPDATE settings SET body = x'00' WHERE copy = 1")
    journal = opened(disk)
    assert journal.beside.settings() == StoredSettings(b"settings", settings_digest(b"settings"))
    journal.close()
    force(disk, "UPDATE settings SET body = x'00'")
    journal = opened(disk)
    with pytest.raises(JournalFault, match="settings were altered"):
        journal.beside.settings()
    journal.close()


def test_boots_are_counted(disk: SimDisk) -> None:
    for number in (1, 2, 3):
        journal = opened(disk)
        assert journal.beside.count_boot() == number
        journal.close()


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
    assert again.beside.moments() == {0: [JOINED], again.last_sequence: [SEAT_FIVE]}
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
            found = journal.last_sequence, journal.beside.moments()
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


def test_a_damaged_moment_closes_the_table(disk: SimDisk) -> None:
    journal = opened(disk)
    journal.append_many([], [SEAT_FIVE])
    journal.close()
    force(disk, "UPDATE moment SET body = x'ff'")
    again = opened(disk)
    with pytest.raises(JournalFault, match="pressed last"):
        again.beside.moments()
    again.close()


def test_what_was_salvaged_is_kept_until_its_records_take_its_place(disk: SimDisk) -> None:
    """Catches: salvaged bets that are lost on the way, or recorded at every start anew."""
    journal = opened(disk)
    left = [Salvaged(bytes(16), number, 7, b"body", 1, 2, bytes(32), 1) for number in (4, 5)]
    journal.beside.keep_salvage(left)
    journal.close()
    journal = opened(disk)
    assert journal.beside.salvage() == left
    journal.append(events.ROUND_END, events.RoundEnd(1).to_body(), 1, 1)
    assert journal.beside.salvage() == left
    journal.adopt_salvage([Entry(events.ROUND_END, events.RoundEnd(1).to_body(), 1, 1)])
    assert journal.beside.salvage() == []
    journal.close()
    journal = opened(disk)
    assert (journal.beside.salvage(), journal.last_sequence) == ([], 2)
    journal.close()
