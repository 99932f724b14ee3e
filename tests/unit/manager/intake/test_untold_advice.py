"""What a shuffler's news come to is told again to a unit that may have missed it."""

from __future__ import annotations

import pytest

from protocol.wire import events
from protocol.wire.messages import CoverAll, HandCheck, Message
from tests.kit.pretend_units import Desk

TABLE = "touch-1"


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table(TABLE)
    desk.start(TABLE, 1, "5A")
    desk.say(TABLE, events.Dealt(1, 1, 5, "cover-all"))
    desk.say(TABLE, events.Shown(1, 1, 5, ("As", "Ah", "Ad", "Ac", "Ks")))
    return desk


def untold(desk: Desk) -> list[Message]:
    return desk.manager.intake.untold_advice(desk.manager.units.get(desk.units[TABLE].unit_id))


def test_a_check_without_a_receipt_is_sent_until_there_is_one(desk: Desk) -> None:
    """Catches: a check that was lost with the link and is never kept with its win."""
    answers = desk.claim(TABLE, 1, 1, s5A="four-aces").answers
    (check,) = [each for each in answers if isinstance(each, HandCheck)]
    assert check in untold(desk)
    desk.say(TABLE, events.Checked(1, check.hands))
    assert [each for each in untold(desk) if isinstance(each, HandCheck)] == []


def test_a_claim_that_was_taken_back_is_not_checked_again(desk: Desk) -> None:
    desk.claim(TABLE, 1, 1, s5A="four-aces")
    desk.say(TABLE, events.Cancel(1, 1))
    assert [each for each in untold(desk) if isinstance(each, HandCheck)] == []


def test_the_column_of_the_last_deal_is_told_until_the_next_game(desk: Desk) -> None:
    (column,) = untold(desk)
    assert isinstance(column, CoverAll)
    assert (column.round_number, column.hand_count) == (1, 5)
    desk.end(TABLE, 1)
    desk.start(TABLE, 2, "5A")
    assert untold(desk) == []
