"""Naming the winning bet: seat and hand, in both workflows."""

from __future__ import annotations

import pytest

from controller.core.round import commands
from controller.core.round.guide import Around, guide
from controller.inputs.buttons import command_of
from protocol import numbers


def test_a_hand_in_the_row_of_its_game_means_that_game_s_bet(dual):
    """Catches: a seat with two bets that a touch panel could not enter (drop the letter)."""
    dual.start("3A", "3B")
    dual.accept(commands.seat(3))
    assert "two bets" in dual.refuse(commands.hand("three-of-a-kind"))
    dual.accept(commands.hand("three-of-a-kind", "B"))
    dual.accept(commands.hand("three-of-a-kind", "A"))
    assert sorted(dual.state.hands) == [["3A", "three-of-a-kind"], ["3B", "three-of-a-kind"]]
    dual.accept(commands.hand("three-of-a-kind", "B"))  # again: off
    assert dual.state.hands == [["3A", "three-of-a-kind"]]


def test_the_button_of_a_hand_may_name_its_game():
    assert command_of("HAND four-aces B", "", list) == commands.hand("four-aces", "B")
    assert command_of("HAND four-aces", "", list) == commands.hand("four-aces")
    for name in ("HAND four-aces b", "HAND four-aces BB", "HAND  B", "HAND four-aces B B"):
        assert command_of(name, "", list) is None


def hand_event(sensor: str, hand: str) -> list[object]:
    return [(numbers.HAND, {1: 1, 2: sensor, 3: hand})]


def test_touch_takes_the_seat_then_the_hand(touch):
    touch.start("2A", "5A")
    touch.accept(commands.seat(5))
    assert touch.state.selected_seat == 5
    assert touch.accept(commands.hand("four-aces")) == hand_event("5A", "four-aces")
    assert touch.state.phase() == "claim"
    assert touch.state.stage() == "preview"


def test_a_hand_pressed_again_is_turned_off(touch):
    touch.start("5A")
    touch.select(5, "four-aces")
    assert touch.accept(commands.hand("four-aces")) == hand_event("5A", "")
    assert touch.state.hands == []
    assert touch.state.phase() == "locked"


def test_another_hand_replaces_the_first(touch):
    touch.start("5A")
    touch.select(5, "four-aces")
    assert touch.accept(commands.hand("straight-flush")) == hand_event("5A", "straight-flush")
    assert touch.state.hands == [["5A", "straight-flush"]]


def test_several_seats_can_hold_hands(touch):
    touch.start("2A", "5A")
    touch.select(2, "three-of-a-kind")
    touch.select(5, "four-aces")
    assert touch.state.hands == [["2A", "three-of-a-kind"], ["5A", "four-aces"]]


@pytest.mark.parametrize("command", [commands.seat(5), commands.hand("four-aces")])
def test_nothing_can_be_entered_without_a_game(touch, command):
    assert "no game" in touch.refuse(command)


def test_a_hand_without_a_seat_is_refused_on_touch(touch):
    touch.start("5A")
    assert "seat first" in touch.refuse(commands.hand("four-aces"))


def test_a_seat_without_an_accepted_bet_is_refused(touch):
    touch.start("5A", refused=("3A",))
    assert "Seat 3 has no accepted bet" in touch.refuse(commands.seat(3))
    assert "Seat 2 has no accepted bet" in touch.refuse(commands.seat(2))


def test_a_seat_that_does_not_exist_is_refused(touch):
    touch.start("5A")
    assert "no seat 9" in touch.refuse(commands.seat(9))
    assert "no seat 0" in touch.refuse(commands.seat(*commands.parse_seat("five")))


def test_a_hand_that_does_not_exist_is_refused(touch):
    touch.start("5A")
    touch.accept(commands.seat(5))
    assert "no hand royal" in touch.refuse(commands.hand("royal"))


def test_entry_is_refused_while_confirmed(touch):
    touch.start("2A", "5A")
    touch.select(5, "four-aces")
    touch.accept(commands.confirm())
    assert "ancel the confirmation first" in touch.refuse(commands.seat(2))
    assert "ancel the confirmation first" in touch.refuse(commands.hand("four-aces"))
    touch.award(100_000, role=2)
    assert "ancel the confirmation first" in touch.refuse(commands.hand("three-of-a-kind"))
    touch.accept(commands.card(2, bytes(16)))
    assert "being recorded" in touch.refuse(commands.seat(2))


def test_entry_is_refused_while_a_jpot_claim_is_open(keypad):
    keypad.start("2A", "5A")
    keypad.select(5, "four-aces")
    keypad.accept(commands.jpot("JPH"))
    keypad.rules.key = "JPH"
    assert "priced" in keypad.refuse(commands.hand("four-aces"))
    keypad.award(100_000, role=2, frozen=True)
    assert "RUN" in keypad.refuse(commands.hand("four-aces"))


def test_a_settled_seat_cannot_be_claimed_again(touch):
    touch.start("2A", "5A")
    touch.select(5, "four-aces")
    touch.accept(commands.confirm())
    touch.award(100_000, role=2)
    touch.accept(commands.card(2, bytes(16)))
    touch.settle()
    assert touch.state.phase() == "locked"
    assert "already been paid" in touch.refuse(commands.seat(5))
    touch.select(2, "three-of-a-kind")


def test_two_spots_one_bet_the_hand_finds_it(dual):
    dual.start("3A", "5B")
    dual.select(3, "three-of-a-kind")
    dual.select(5, "three-of-a-kind")
    assert dual.state.hands == [["3A", "three-of-a-kind"], ["5B", "three-of-a-kind"]]


def test_two_spots_two_bets_a_hand_of_one_game_finds_it(dual):
    dual.start("3A", "3B")
    dual.select(3, "seven-suited")
    dual.select(3, "four-aces")
    assert dual.state.hands == [["3B", "seven-suited"], ["3A", "four-aces"]]


def test_two_spots_two_bets_a_shared_hand_must_name_the_spot(dual):
    dual.start("3A", "3B")
    dual.accept(commands.seat(3))
    sentence = dual.refuse(commands.hand("three-of-a-kind"))
    assert "SEAT 3A or SEAT 3B" in sentence
    dual.select(3, "three-of-a-kind", "B")
    assert dual.state.hands == [["3B", "three-of-a-kind"]]


def test_a_hand_of_the_game_without_a_bet_is_refused(dual):
    dual.start("3A")
    dual.accept(commands.seat(3))
    assert "Seven Suited" in dual.refuse(commands.hand("seven-suited"))


def test_a_spot_without_a_bet_is_refused(dual):
    dual.start("3A")
    assert "spot 3B" in dual.refuse(commands.seat(3, "B"))


def test_keypad_with_one_bet_needs_no_seat(keypad):
    keypad.start("5A")
    assert keypad.accept(commands.hand("four-aces")) == hand_event("5A", "four-aces")
    assert keypad.accept(commands.hand("four-aces")) == hand_event("5A", "")


def test_keypad_with_several_bets_asks_for_the_seat(keypad):
    keypad.start("2A", "5A")
    keypad.accept(commands.hand("four-aces"))
    assert keypad.state.pending_hand == "four-aces"
    assert keypad.state.hands == []
    assert keypad.accept(commands.seat(5)) == hand_event("5A", "four-aces")
    assert keypad.state.pending_hand == ""


def test_keypad_hand_pressed_again_before_the_seat_is_withdrawn(keypad):
    keypad.start("2A", "5A")
    keypad.accept(commands.hand("four-aces"))
    keypad.accept(commands.hand("four-aces"))
    assert keypad.state.pending_hand == ""
    assert "hand first" in keypad.refuse(commands.seat(5))


def test_keypad_another_hand_replaces_the_waiting_one(keypad):
    keypad.start("2A", "5A")
    keypad.accept(commands.hand("four-aces"))
    keypad.accept(commands.hand("straight-flush"))
    assert keypad.accept(commands.seat(2)) == hand_event("2A", "straight-flush")


def test_keypad_hand_and_seat_again_turn_it_off(keypad):
    keypad.start("2A", "5A")
    keypad.select(5, "four-aces")
    keypad.accept(commands.hand("four-aces"))
    assert keypad.accept(commands.seat(5)) == hand_event("5A", "")


def test_keypad_wrong_seat_keeps_the_hand_waiting(keypad):
    keypad.start("2A", "5A")
    keypad.accept(commands.hand("four-aces"))
    assert "no accepted bet" in keypad.refuse(commands.seat(3))
    assert keypad.state.pending_hand == "four-aces"


def test_keypad_seat_is_implied_when_only_one_bet_is_left_unsettled(keypad):
    keypad.start("2A", "5A")
    keypad.select(5, "three-of-a-kind")
    keypad.accept(commands.confirm())
    keypad.award(900, role=0)
    keypad.settle()
    assert keypad.accept(commands.hand("four-aces")) == hand_event("2A", "four-aces")


def test_keypad_hand_without_any_bet_left_is_refused(keypad):
    keypad.start("5A")
    keypad.select(5, "three-of-a-kind")
    keypad.accept(commands.confirm())
    keypad.award(900, role=0)
    keypad.settle()
    assert "No accepted bet is left" in keypad.refuse(commands.hand("four-aces"))


@pytest.mark.parametrize(
    ("text", "seat"),
    [
        ("3", (3, "")),
        ("3B", (3, "B")),
        ("12A", (12, "A")),
        ("", (0, "")),
        ("B", (0, "")),
        ("-1", (0, "")),
        ("123", (0, "")),
        ("3b", (0, "")),
    ],
)
def test_seat_buttons_are_read_strictly(text, seat):
    assert commands.parse_seat(text) == seat


@pytest.mark.parametrize("workflow", ["touch", "keypad"])
def test_a_hand_that_is_taken_back_says_so_and_end_asks_once(make_table, workflow):
    """Catches: SEAT, HAND, HAND, END throwing a win away without a word."""
    table = make_table(workflow)
    table.start("5A")
    table.select(5, "four-aces")
    table.accept(commands.hand("four-aces"))
    assert (
        guide(table.state, table.rules, Around([])).sentence
        == "Four Aces at seat 5 was taken back."
    )
    asked = table.refuse(commands.end())
    end = "END GAME" if workflow == "touch" else "GAME OVER"
    assert asked == (f"Four Aces at seat 5 was taken back. Enter it anew, or press {end} again.")
    table.accept(commands.end())


def test_what_was_taken_back_is_forgotten_with_the_next_press(touch):
    touch.start("3A", "5A")
    touch.select(5, "four-aces")
    touch.accept(commands.hand("four-aces"))
    touch.accept(commands.late("2A", True, 5))
    assert "taken back" in guide(touch.state, touch.rules, Around([])).sentence
    touch.accept(commands.seat(3))
    assert "taken back" not in guide(touch.state, touch.rules, Around([])).sentence
    assert touch.refuse(commands.end()) == "Seat 3 is chosen. Press its hand, or END GAME again."
    touch.accept(commands.end())


def test_a_hand_that_is_replaced_is_not_taken_back(touch):
    touch.start("5A")
    touch.select(5, "four-aces")
    touch.accept(commands.hand("straight-flush"))
    assert touch.state.taken_back == []
