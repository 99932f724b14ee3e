"""The last game is opened again: by whom, until when, and as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from controller.core.round import commands
from controller.core.round.reopening import BY_DEALER_MS
from protocol import numbers
from tests.kit.core_table import Table


def played(table: Table) -> None:
    """A game with a late chip, ended."""
    table.start("2A", "5A", refused=("3A",))
    table.accept(commands.late("4A", True, 700))
    table.accept(commands.end())


@pytest.mark.parametrize("workflow", ["touch", "keypad"])
def test_the_dealer_reopens_at_once_and_finds_all_as_it_was(
    make_table: Callable[..., Table], workflow: str
) -> None:
    """Catches: a reopened game without its bets or its marks."""
    table = make_table(workflow)
    table.start("2A", "5A", refused=("3A",))
    table.accept(commands.late("4A", True, 700))
    before = table.state.kept_of_round()
    table.accept(commands.end())
    events = table.accept(commands.reopen(BY_DEALER_MS - 1))
    assert events == [(numbers.REOPENED, {1: 1, 2: numbers.METHOD_DEALER, 3: 0, 4: b""})]
    assert (table.state.round_open, table.state.kept_of_round()) == (True, before)
    assert table.state.closed is None, "it is under way, and no longer the one that ended"
    table.select(5, "four-aces")  # the win that was forgotten


@pytest.mark.parametrize("age_ms", [BY_DEALER_MS, -1])
def test_later_a_supervisor_swipes_a_card(touch: Table, age_ms: int) -> None:
    played(touch)
    assert "supervisor" in touch.refuse(commands.reopen(age_ms))
    assert "not known" in touch.refuse(commands.card(0, bytes(16)))
    events = touch.accept(commands.card(1, bytes(16)))
    assert events == [(numbers.REOPENED, {1: 1, 2: numbers.METHOD_CARD, 3: 1, 4: bytes(16)})]


def test_later_a_supervisor_turns_the_key(keypad: Table) -> None:
    played(keypad)
    assert "key" in keypad.refuse(commands.reopen(BY_DEALER_MS))
    keypad.rules.key = numbers.KEY_JPH
    events = keypad.accept(commands.reopen(BY_DEALER_MS))
    assert events == [(numbers.REOPENED, {1: 1, 2: numbers.METHOD_KEY, 3: 1, 4: b""})]


def test_a_card_opens_nothing_unless_it_was_asked_for(touch: Table) -> None:
    played(touch)
    touch.refuse(commands.card(2, bytes(16)))
    touch.refuse(commands.reopen(BY_DEALER_MS))
    touch.accept(commands.join([1, 2]))
    touch.refuse(commands.card(2, bytes(16)))
    assert not touch.state.round_open


def test_the_next_start_ends_the_chance(touch: Table) -> None:
    assert "no game to open again" in touch.refuse(commands.reopen(0))
    played(touch)
    touch.start("1A")
    assert "under way" in touch.refuse(commands.reopen(0))
    touch.accept(commands.end())
    touch.accept(commands.reopen(0))
    assert (touch.state.round_number, touch.state.accepted) == (2, ["1A"])


def test_wins_and_ticks_come_back_with_the_game(touch: Table) -> None:
    """Catches: a seat that is paid twice because its tick was forgotten with the END."""
    touch.start("2A", "5A")
    touch.select(5, "four-aces")
    touch.accept(commands.confirm())
    touch.award(800_075, role=2)
    touch.accept(commands.card(2, bytes(16)))
    touch.settle(7)
    touch.accept(commands.tick(5, 900))
    touch.accept(commands.end())
    touch.accept(commands.reopen(0))
    assert touch.state.paid == [[5, 800_075, 900]]
    assert [win.win_number for win in touch.state.wins] == [7]
    assert "Nothing is due" in touch.refuse(commands.tick(5, 950))
