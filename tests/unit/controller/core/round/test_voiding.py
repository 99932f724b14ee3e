"""A game is void: by whom, when not, and what is left of it."""

from __future__ import annotations

import pytest

from controller.core import lights
from controller.core.felt import spot
from controller.core.round import commands, voiding
from controller.core.round.guide import Around, guide
from protocol import numbers
from tests.kit.core_table import Table

CARD = bytes(16)


def won(table: Table) -> None:
    table.select(5, "four-aces")
    table.accept(commands.confirm())
    table.award(800_075, role=2)
    table.accept(commands.card(2, CARD))
    table.settle(7)


def test_a_supervisor_voids_with_a_card(touch: Table) -> None:
    touch.start("2A", "5A")
    touch.accept(commands.void())
    assert touch.state.round_open
    assert "not known" in touch.refuse(commands.card(0, CARD))
    events = touch.accept(commands.card(1, CARD))
    assert events == [(numbers.VOIDED, {1: 1, 2: numbers.METHOD_CARD, 3: 1, 4: "misdeal", 5: CARD})]
    assert (touch.state.round_open, touch.state.voided) == (False, ["2A", "5A"])


@pytest.mark.parametrize("reason", numbers.VOID_REASONS)
def test_the_reason_that_was_chosen_is_recorded_and_said(touch: Table, reason: str) -> None:
    """Catches: every void round called a misdeal."""
    touch.start("2A", "5A")
    touch.accept(commands.void(reason))
    words = voiding.REASON_WORDS[reason]
    assert f"Reason: {words}." in guide(touch.state, touch.rules, Around([])).sentence
    ((_kind, body),) = touch.accept(commands.card(1, CARD))
    assert body[4] == reason
    assert f"Reason: {words}." in guide(touch.state, touch.rules, Around([])).sentence


def test_a_reason_that_is_none_is_refused(touch: Table) -> None:
    touch.start("2A")
    assert "Choose why" in touch.refuse(commands.void("bad luck"))


def test_a_keypad_table_records_the_reason_that_was_chosen(keypad: Table) -> None:
    keypad.start("2A")
    keypad.rules.key = numbers.KEY_JPH
    assert "again" in keypad.refuse(commands.void("exposed-card"))
    ((_kind, body),) = keypad.accept(commands.cancel())
    assert body[4] == "exposed-card"


def test_a_supervisor_voids_with_the_key_and_cancel_twice(keypad: Table) -> None:
    """Catches: one CANCEL under the key that voids a game without asking."""
    keypad.start("2A")
    assert "Nothing is confirmed" in keypad.refuse(commands.cancel())
    keypad.rules.key = numbers.KEY_JPH
    assert "again" in keypad.refuse(commands.cancel())
    events = keypad.accept(commands.cancel())
    assert events == [(numbers.VOIDED, {1: 1, 2: numbers.METHOD_KEY, 3: 1, 4: "misdeal", 5: b""})]


def test_cancel_still_takes_a_confirmation_back_under_the_key(keypad: Table) -> None:
    keypad.start("2A")
    keypad.select(2, "three-of-a-kind")
    keypad.accept(commands.confirm())
    keypad.rules.key = numbers.KEY_JPH
    keypad.accept(commands.cancel())
    assert "Press a hand again" in keypad.refuse(commands.cancel())


def test_a_card_voids_nothing_unless_it_was_asked_for(touch: Table) -> None:
    """Catches: a question that outlives the next press."""
    touch.start("2A", "5A")
    touch.refuse(commands.card(1, CARD))
    touch.accept(commands.void())
    touch.accept(commands.seat(2))
    touch.refuse(commands.card(1, CARD))
    assert touch.state.round_open


def test_no_game_is_void_while_a_win_is_entered_or_stands(touch: Table) -> None:
    assert "no game" in touch.refuse(commands.void())
    touch.start("2A", "5A")
    touch.select(5, "four-aces")
    assert "being entered" in touch.refuse(commands.void())
    touch.accept(commands.hand("four-aces"))
    touch.accept(commands.seat(5))  # let go
    won(touch)
    assert "Win 7" in touch.refuse(commands.void())
    touch.accept(commands.reversed_win(7))
    touch.accept(commands.void())
    touch.accept(commands.card(1, CARD))


def test_two_people_at_the_manager_void_the_game(touch: Table) -> None:
    """Hands that are only selected go with it; what was told twice happens once."""
    touch.start("2A", "5A")
    touch.select(5, "four-aces")
    events = touch.accept(commands.voided_there(1, "exposed-card", CARD))
    body = {1: 1, 2: numbers.METHOD_MANAGER, 3: 1, 4: "exposed-card", 5: CARD}
    assert events == [(numbers.VOIDED, body)]
    assert (touch.state.voided, touch.state.hands) == (["2A", "5A"], [])
    assert touch.accept(commands.voided_there(1, "exposed-card", CARD)) == []


def test_the_manager_voids_no_other_game_and_no_win(touch: Table) -> None:
    """Catches: a late order that ends the next game, and one that passes over a claim."""
    touch.start("2A", "5A")
    assert touch.accept(commands.voided_there(9, "misdeal", CARD)) == []
    touch.select(5, "four-aces")
    touch.accept(commands.confirm())
    assert "being entered" in touch.refuse(commands.voided_there(1, "misdeal", CARD))
    touch.award(800_075, role=2)
    touch.accept(commands.card(2, CARD))
    touch.settle(7)
    assert "Win 7" in touch.refuse(commands.voided_there(1, "misdeal", CARD))
    assert touch.state.round_open


def test_a_void_game_is_not_opened_again_and_the_next_start_forgets_it(touch: Table) -> None:
    touch.start("2A", "5A")
    touch.accept(commands.void())
    touch.accept(commands.card(1, CARD))
    assert "no game to open again" in touch.refuse(commands.reopen(0))
    touch.start("1A")
    assert (touch.state.round_number, touch.state.voided) == (2, [])


def test_panel_and_lights_say_what_is_to_be_given_back(touch: Table) -> None:
    touch.start("2A", "5A")
    assert "VOID" in guide(touch.state, touch.rules, Around([])).lit
    touch.accept(commands.void())
    asked = guide(touch.state, touch.rules, Around([]))
    assert asked.sentence.startswith("Swipe a supervisor's card to void this game")
    touch.accept(commands.card(1, CARD))
    told = guide(touch.state, touch.rules, Around(["5A"]))
    assert told.sentence == "Game 1 is void. Give each bet back: seats 2, 5. Reason: Misdeal."
    assert (told.next_button, "VOID" in told.lit) == ("START", False)
    shown = [lights.light_of("2A", where, touch.state, 0) for where in (spot.ABSENT, spot.PRESENT)]
    assert shown == [lights.REFUSED, lights.DETECTED]


@pytest.mark.parametrize("workflow", ["touch", "keypad"])
def test_after_a_misdeal_start_is_refused_and_the_bets_stand(
    make_table: object, workflow: str
) -> None:
    table: Table = make_table(workflow)  # type: ignore[operator]
    table.start("2A")
    assert "deal again" in table.refuse(commands.start(table.verdicts("2A")))
    assert table.state.accepted == ["2A"]
