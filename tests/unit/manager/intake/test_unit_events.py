"""What a unit tells of itself reaches people under the right name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kit.program_news import ROLLED_BACK
from manager.ledger.alarms import PROGRAM_CHANGED, PROGRAM_TAKEN_BACK
from manager.ledger.corrections.reasons import Signed
from protocol.proof.chain import encode_body
from protocol.wire import events
from protocol.wire.program_steps import PROGRAM_CHANGE
from protocol.wire.rows import SeenTail
from tests.kit.pretend_units import Desk, PretendUnit

TABLE = "touch-1"


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ("0.2.0 to 0.3.0: kept", PROGRAM_CHANGED),
        (f"0.2.0 to 0.3.0: {ROLLED_BACK}", PROGRAM_TAKEN_BACK),
    ],
)
def test_a_program_that_was_taken_back_is_not_told_as_one_that_changed(
    desk: Desk, result: str, code: str
) -> None:
    """Catches: an update that failed at a table and that the floor believes to be running."""
    assert desk.say(TABLE, events.Service(PROGRAM_CHANGE, "", result)).answers == []
    (alarm,) = desk.manager.book.alarms.newest(9)
    assert (alarm.code, alarm.sentence, alarm.table_id) == (code, result, TABLE)


@pytest.mark.parametrize(("tech", "who"), [("Tech 4", "Tech 4"), ("", "Nobody in particular")])
def test_whoever_opens_a_unit_is_named(desk: Desk, tech: str, who: str) -> None:
    """Catches: a cabinet that somebody opens without anybody hearing of it."""
    desk.say(TABLE, events.Service("cabinet", tech, "opened"))
    (alarm,) = desk.manager.book.alarms.newest(9)
    assert (alarm.code, alarm.sentence) == ("SERVICE", f"{who} used cabinet: opened")


def diverged(desk: Desk, **other: Any) -> events.Diverged:
    """The last record of the table's unit, or one that differs from it."""
    unit = desk.units[TABLE]
    body = encode_body(events.RoundEnd(1).to_body())
    place = (unit.journal_id, unit.sequence, unit.digest)
    return replace(events.Diverged(*place, events.ROUND_END, body, 1, 1), **other)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"digest": bytes(32)}, "RoundEnd, is not booked: a copy's was taken in its place. r"),
        ({"digest": bytes(32), "body": b"\xff"}, "RoundEnd, is not booked: a copy's was taken"),
        ({"digest": bytes(32), "kind": 999}, "of an unknown kind, is not booked"),
    ],
)
def test_what_a_table_did_while_a_copy_spoke_for_it_is_told(
    desk: Desk, other: dict[str, Any], words: str
) -> None:
    """Catches: bets or a win that were really made, and that nobody hears of."""
    desk.start(TABLE, 1, "1A")
    desk.end(TABLE, 1)
    said, taken_in = diverged(desk, **other), diverged(desk)
    units, unit_id = desk.manager.units, desk.units[TABLE].unit_id
    units.permit_new_journal(unit_id, "", Signed("Ann"), "a copy went on")
    desk.units[TABLE] = PretendUnit(unit_id, b"another-journal!")
    units.greet(desk.units[TABLE].hello())
    before = desk.alarm_codes()
    assert desk.say(TABLE, taken_in).answers == []
    assert desk.alarm_codes() == before, "the manager has that very record"
    assert desk.say(TABLE, said).answers == []
    alarm = desk.manager.book.alarms.newest(1)[0]
    assert (alarm.code, alarm.table_id) == ("DIVERGED", TABLE)
    assert alarm.sentence.startswith(f"Record 2 of unit {unit_id}, {words}")
    assert alarm.sentence.endswith("round_number 1") == (len(other) == 1)


@pytest.mark.parametrize(
    ("raised", "part", "sentence"),
    [
        (True, "sensor 5A", "sensor 5A: It reads nothing."),
        (False, "sensor 5A", "Cleared: It reads nothing."),
        (True, "", "It reads nothing."),
    ],
)
def test_a_fault_is_told_with_its_part_and_whether_it_is_over(
    desk: Desk, raised: bool, part: str, sentence: str
) -> None:
    desk.say(TABLE, events.Fault("SENSOR", part, raised, "It reads nothing."))
    (alarm,) = desk.manager.book.alarms.newest(9)
    assert (alarm.code, alarm.table_id) == ("SENSOR", TABLE)
    assert alarm.sentence.endswith(sentence)
    assert alarm.sentence.startswith(part)


def test_settings_that_nobody_gave_the_table_are_told(desk: Desk) -> None:
    """Catches: a table that plays by other prices than the books."""
    known = desk.manager.book.tables.rules(TABLE).settings_digest
    desk.say(TABLE, events.Settings(known))
    assert desk.alarm_codes() == []
    desk.say(TABLE, events.Settings(bytes(32)))
    assert desk.alarm_codes() == ["SETTINGS"]
    assert desk.manager.units.get(desk.units[TABLE].unit_id).settings_digest == bytes(32)


def test_a_seal_that_proves_nothing_and_a_tail_of_another_ledger_are_told(desk: Desk) -> None:
    """Catches: a ledger that was exchanged, and a unit that saw it, and nobody hears of it."""
    desk.start(TABLE, 1, "1A")
    tail = desk.store.tail()
    right = (SeenTail(0, tail.number, tail.digest),)
    desk.say(TABLE, events.Seal(1, "day", bytes(64), right))
    assert desk.alarm_codes() == ["SEAL"]
    desk.say(TABLE, events.Seal(1, "day", bytes(64), (SeenTail(0, tail.number, bytes(32)),)))
    assert desk.alarm_codes() == ["SEAL", "TAIL"]
    alarm = desk.manager.book.alarms.newest(1)[0]
    assert (
        alarm.sentence == f"Ledger transaction {tail.number} was told a unit with another digest."
    )
    assert (alarm.table_id, alarm.commit_ms > 0) == (TABLE, True)
