"""The alarms: which of them are told of one unit, and in which order."""

from __future__ import annotations

from manager.ledger.alarms import CHANGES_MAX, PROGRAM_CHANGED, PROGRAM_TAKEN_BACK
from manager.ledger.store.entries import EventSource
from tests.kit.pretend_units import Desk


def test_the_last_changes_of_a_units_program_are_told_newest_first() -> None:
    """Catches: kept and taken back told one kind after the other, or the oldest ten for good."""
    alarms = Desk().manager.book.alarms
    codes = (PROGRAM_CHANGED, PROGRAM_TAKEN_BACK)
    for number in range(1, 2 * CHANGES_MAX + 1):
        alarms.record(codes[number % 2], f"Change {number}.", origin=EventSource("UF-1"))
    alarms.record(PROGRAM_CHANGED, "Another unit.", origin=EventSource("UF-2"))
    alarms.record("DOOR", "Another matter.", origin=EventSource("UF-1"))
    told = [each.sentence for each in alarms.program_changes("UF-1")]
    newest = range(2 * CHANGES_MAX, CHANGES_MAX, -1)
    assert told == [f"Change {number}." for number in newest]
