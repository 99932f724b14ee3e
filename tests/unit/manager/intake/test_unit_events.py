"""What a unit tells of itself reaches people under the right name."""

from __future__ import annotations

import pytest

from kit.program_news import ROLLED_BACK
from manager.ledger.alarms import PROGRAM_CHANGED, PROGRAM_TAKEN_BACK
from protocol.wire import events
from protocol.wire.program_steps import PROGRAM_CHANGE
from tests.kit.pretend_units import Desk

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
