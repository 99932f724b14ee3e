"""The ledger's tail that a unit was told: kept with the next record, in two copies."""

from __future__ import annotations

import pytest

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from protocol.wire import events
from protocol.wire.rows import LedgerTail
from sim.storage.disk import SimDisk
from tests.kit.journals import add, force, opened

FIRST = LedgerTail(0, 5, bytes([5]) * 32, b"")
SECOND = LedgerTail(0, 6, bytes([6]) * 32, bytes(64))


def told(disk: SimDisk, *tails: LedgerTail) -> None:
    journal = opened(disk)
    for tail in tails:
        journal.tail.note(tail)
        add(journal, events.Refused("START", "No."))
    journal.close()


def remembered(disk: SimDisk) -> LedgerTail | None:
    journal = opened(disk)
    try:
        return journal.tail.told
    finally:
        journal.close()


def copies(journal: Journal) -> list[bytes]:
    rows = journal._disk.rows("SELECT body FROM tail ORDER BY copy")
    return [bytes(body) for (body,) in rows]


def test_nothing_was_told_to_a_new_unit(disk: SimDisk) -> None:
    assert remembered(disk) is None


def test_the_last_tail_is_remembered_over_a_restart(disk: SimDisk) -> None:
    told(disk, FIRST, SECOND)
    assert remembered(disk) == SECOND


def test_it_is_written_with_the_next_record_and_only_when_it_is_new(disk: SimDisk) -> None:
    """Catches: a press that waits for a sync of its own, or a copy written at every press."""
    journal = opened(disk)
    journal.tail.note(FIRST)
    assert copies(journal) == []
    add(journal, events.Refused("START", "No."))
    first = copies(journal)
    assert len(first) == 2
    assert first[0] == first[1]
    changes = journal._disk.connection.total_changes()
    journal.tail.store()
    assert journal._disk.connection.total_changes() == changes, "nothing was told since"
    journal.tail.note(SECOND)
    add(journal, events.Refused("START", "No."))
    assert copies(journal) != first
    journal.close()


@pytest.mark.parametrize("copy", [1, 2])
def test_one_damaged_copy_costs_nothing(disk: SimDisk, copy: int) -> None:
    told(disk, FIRST)
    force(disk, f"UPDATE tail SET body = x'00' WHERE copy = {copy}")
    assert remembered(disk) == FIRST


def test_a_memory_that_cannot_be_read_is_a_fault_and_not_nothing(disk: SimDisk) -> None:
    """Catches: a manager whose ledger went back, believed by a unit that forgot what it knew."""
    told(disk, FIRST)
    force(disk, "UPDATE tail SET body = x'00'")
    with pytest.raises(JournalFault, match="remembers of the ledger was damaged"):
        opened(disk)
