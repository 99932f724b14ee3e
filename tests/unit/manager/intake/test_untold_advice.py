"""What a shuffler's news come to is told again to a unit that may have missed it."""

from __future__ import annotations

import pytest

from manager.intake.shuffler_advice import ShufflerAdvice
from protocol.numbers import HAND_AGREES, HAND_DIFFERS
from protocol.wire import events
from protocol.wire.messages import CoverAll, HandCheck, Message
from protocol.wire.rows import CheckedHand, ClaimedHand
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


@pytest.mark.parametrize(
    ("cards", "result", "seen"),
    [
        (("As", "Ah", "Ad", "Ac", "Ks"), HAND_AGREES, "four-aces"),
        (("2s", "2h", "2d", "2c", "Ks"), HAND_DIFFERS, "four-of-a-kind"),
        (("2s", "7h", "9d", "Jc", "Ks"), HAND_DIFFERS, ""),
    ],
)
def test_a_claimed_hand_is_held_against_its_cards(
    desk: Desk, cards: tuple[str, ...], result: int, seen: str
) -> None:
    """Catches: a supervisor who is told that the cards agree where they do not."""
    desk.say(TABLE, events.Shown(1, 1, 5, cards))  # the newest word about a seat counts
    answers = desk.claim(TABLE, 1, 1, s5A="four-aces").answers
    (check,) = [each for each in answers if isinstance(each, HandCheck)]
    assert check == HandCheck(1, (CheckedHand("5A", result, seen),))


def test_cards_of_another_seat_deal_or_round_check_nothing(desk: Desk) -> None:
    """Catches: a hand that is held against the cards of somebody else."""
    desk.say(TABLE, events.Shown(1, 2, 4, ("As", "Ah", "Ad", "Ac", "Ks")))
    answers = desk.claim(TABLE, 1, 1, s5A="four-aces").answers
    assert not [each for each in answers if isinstance(each, HandCheck)], "that was the first deal"
    advice, rules = ShufflerAdvice(desk.store), desk.manager.book.tables.rules(TABLE)
    unit = desk.manager.units.get(desk.units[TABLE].unit_id)
    hands = (ClaimedHand("4A", "four-aces"),)
    assert advice.check(unit, rules, events.Claim(1, 2, hands, False))
    assert advice.check(unit, rules, events.Claim(2, 2, hands, False)) == []


@pytest.mark.parametrize(("mode", "count"), [("", 5), ("cover-all", 1)])
def test_there_is_no_column_where_cover_all_is_not_played(
    desk: Desk, mode: str, count: int
) -> None:
    assert ShufflerAdvice(desk.store).column(events.Dealt(1, 1, count, mode)) == []
