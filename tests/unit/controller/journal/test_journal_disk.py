"""A disk that fails: the journal stays faulty until it is opened again."""

from __future__ import annotations

import re

import apsw
import pytest

from controller.journal import file
from controller.journal.file import JournalFault
from controller.journal.records import Entry
from protocol.wire import events
from protocol.wire.errors import ErrorCode, ProtocolError
from sim.storage.disk import SimDisk
from tests.kit.journals import add, opened


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
        lambda: journal.records.after(0, 1),
        lambda: journal.outbox.acknowledge(1),
        journal.outbox.trim,
        journal.beside.settings,
        journal.beside.count_boot,
        lambda: journal.adopt_settings(b"", 0, 0),
        lambda: journal.check_memory(b""),
        lambda: journal.beside.keep_salvage([]),
        journal.beside.salvage,
    ):
        with pytest.raises(JournalFault, match=sentence):
            attempt()
    journal.close()
    again = opened(disk)
    assert kept in again.records.after(0, 1000)
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


def test_a_disk_that_cannot_be_read_when_bets_are_to_rest_on_it_is_a_fault_for_good(
    disk: SimDisk,
) -> None:
    """Catches: a check that could not be made, taken for one that found nothing."""
    journal = opened(disk)
    add(journal, events.RoundEnd(1))
    disk.failing = {"read"}
    with pytest.raises(JournalFault, match="cannot be checked"):
        journal.check_memory(b"not the round")
    mend_disk(disk)
    with pytest.raises(JournalFault, match="cannot be checked"):
        add(journal, events.RoundEnd(1))
    journal.close()


@pytest.mark.parametrize(
    ("error", "is_fault"),
    [
        (apsw.IOError("no such page"), True),
        (ProtocolError(ErrorCode.MALFORMED, "It is no map."), True),
        (KeyError("a mistake of ours"), False),
    ],
)
def test_whatever_is_wrong_with_the_file_is_a_fault_of_the_journal(
    monkeypatch: pytest.MonkeyPatch, error: Exception, is_fault: bool
) -> None:
    """Catches: a damaged file that ends the unit instead of closing the table."""
    disk, let_go = SimDisk(1), list[object]()
    abandon = file.abandon

    def damaged(*_: object) -> None:
        raise error

    def abandoned(connection: apsw.Connection) -> None:
        let_go.append(connection)
        abandon(connection)

    monkeypatch.setattr(file, "check_file", damaged)
    monkeypatch.setattr(file, "abandon", abandoned)
    with pytest.raises(JournalFault if is_fault else type(error)) as caught:
        opened(disk)
    assert ("The journal cannot be opened" in str(caught.value)) is is_fault
    assert len(let_go) == 1


def test_a_file_that_cannot_be_read_makes_the_journal_faulty_for_good() -> None:
    """Catches: a table that goes on with what it could not read, as if there were nothing."""
    disk = SimDisk(1)
    journal = opened(disk)
    with pytest.raises(JournalFault, match="The journal cannot be read"):
        journal._disk.rows("SELECT 1 FROM elsewhere")
    with pytest.raises(JournalFault, match="The journal cannot be read"):
        add(journal, events.RoundStart(1, ("1A",), ()))
    journal.close()
    disk.close()
