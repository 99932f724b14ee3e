"""What a unit told since its last START, however long the round and the journal are."""

from __future__ import annotations

from manager.intake.round_so_far import READ_AT_ONCE, told_since_start
from protocol.wire import events
from tests.kit.pretend_units import Desk

TABLE = "touch-1"


def late(desk: Desk, round_number: int, *offsets_ms: int) -> None:
    for offset_ms in offsets_ms:
        desk.say(TABLE, events.LateChange(round_number, "1A", True, offset_ms))


def told(desk: Desk) -> list[int]:
    unit = desk.manager.units.get(f"UF-{TABLE}")
    found = told_since_start(desk.store, unit, events.LATE_CHANGE)
    return [each.offset_ms for each in found if isinstance(each, events.LateChange)]


def test_the_newest_comes_first_and_nothing_of_the_round_before(desk: Desk) -> None:
    """Catches: a search that passes over the START, into the round before."""
    desk.start(TABLE, 1, "1A")
    late(desk, 1, 10, 20)
    desk.end(TABLE, 1)
    desk.start(TABLE, 2, "1A")
    assert told(desk) == []
    late(desk, 2, 30, 40)
    assert told(desk) == [40, 30]


def test_a_long_round_is_read_to_its_start(desk: Desk) -> None:
    """Catches: what was told before the newest few events forgotten, or told twice."""
    desk.start(TABLE, 1, "1A")
    late(desk, 1, *range(1, READ_AT_ONCE + 10))
    assert told(desk) == list(range(READ_AT_ONCE + 9, 0, -1))


def test_a_journal_without_a_start_is_read_to_its_beginning(desk: Desk) -> None:
    for _ in range(READ_AT_ONCE - 1):  # with the next one they fill what is read at once
        desk.say(TABLE, events.Refused("START", "No bet lies on the table."))
    late(desk, 1, 5)
    assert told(desk) == [5]
