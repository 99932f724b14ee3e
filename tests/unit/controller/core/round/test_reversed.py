"""A win that was taken back at the manager: told once, no longer owed, its bets free again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from controller.core.round import commands, paying
from controller.core.round.apply import apply
from controller.core.round.decide import RoundState
from controller.core.round.events import is_local
from protocol import numbers
from tests.kit.core_table import Table


def settled(table: Table, hand: str, cents: int, win_number: int) -> None:
    table.select(5, hand)
    table.accept(commands.jpot("JPH") if table.rules.is_keypad() else commands.confirm())
    claim = table.state.claim
    assert claim is not None
    lines, envy = [["5A", hand, cents, "main", 1]], [["2A", 10_000]]
    table.accept(commands.award(claim.number, lines, envy, 1, table.rules.is_keypad()))
    if not table.rules.is_keypad():
        table.accept(commands.card(2, bytes(16)))
    table.accept(commands.committed(claim.number, win_number, lines, envy))


@pytest.mark.parametrize("workflow", ["touch", "keypad"])
def test_a_reversed_win_is_owed_no_more_and_its_bet_can_be_entered_anew(
    make_table: Callable[..., Table], workflow: str
) -> None:
    """Catches: a bet that stays settled, or a list that goes on saying "pay"."""
    table = make_table(workflow)
    table.start("2A", "5A")
    settled(table, "four-aces", 800_075, 7)
    assert table.accept(commands.reversed_win(7)) == [(numbers.REVERSED, {1: 1, 2: 7})]
    assert paying.due_by_seat(table.state) == []
    assert not table.state.is_winner("5A")
    settled(table, "straight-flush", 20_000, 8)
    assert paying.due_by_seat(table.state) == [(5, 20_000), (2, 10_000)]


def test_a_repeated_message_is_no_news(touch: Table) -> None:
    touch.start("2A", "5A")
    settled(touch, "four-aces", 800_075, 7)
    touch.accept(commands.reversed_win(7))
    assert touch.accept(commands.reversed_win(7)) == []


def test_a_win_of_an_earlier_game_is_noted_and_changes_nothing(touch: Table) -> None:
    touch.start("2A", "5A")
    settled(touch, "four-aces", 800_075, 7)
    before = touch.state.durable_values()
    assert touch.accept(commands.reversed_win(3)) == [(numbers.REVERSED, {1: 0, 2: 3})]
    assert touch.state.durable_values() == before


def test_what_was_ticked_off_must_be_taken_back(touch: Table) -> None:
    touch.start("2A", "5A")
    settled(touch, "four-aces", 800_075, 7)
    touch.accept(commands.tick(2, 100))
    touch.accept(commands.reversed_win(7))
    said = paying.reversal_sentence(touch.state, 7)
    assert said == "Win 7 was reversed. Take back $100.00 from seat 2."
    rows = {row.seat: row for row in paying.round_rows(touch.state)}
    assert (rows[2].take_back_cents(), rows[5].take_back_cents()) == (10_000, 0)
    assert all(line.is_reversed for row in rows.values() for line in row.lines)
    assert "Seat 2 has $100.00 to give back" in touch.refuse(commands.end())
    touch.accept(commands.end())  # pressed again, it ends


def test_nothing_ticked_off_is_nothing_to_take_back(touch: Table) -> None:
    touch.start("2A", "5A")
    settled(touch, "four-aces", 800_075, 7)
    touch.accept(commands.reversed_win(7))
    assert paying.reversal_sentence(touch.state, 7).endswith("ticked off: do not pay it.")


def test_the_smaller_right_win_leaves_the_difference_to_take_back(touch: Table) -> None:
    touch.start("2A", "5A")
    settled(touch, "four-aces", 800_075, 7)
    touch.accept(commands.tick(5, 100))
    touch.accept(commands.reversed_win(7))
    settled(touch, "straight-flush", 20_000, 8)
    (row,) = [row for row in paying.round_rows(touch.state) if row.seat == 5]
    assert (row.due_cents(), row.take_back_cents()) == (0, 780_075)


def test_a_power_cut_does_not_bring_the_win_back(touch: Table) -> None:
    touch.start("2A", "5A")
    settled(touch, "four-aces", 800_075, 7)
    touch.accept(commands.reversed_win(7))
    rebuilt = RoundState()
    for event in touch.log:
        if not is_local(event[0]):
            apply(rebuilt, event)
    assert rebuilt.durable_values() == touch.state.durable_values()
    assert not rebuilt.is_settled("5A")


def test_what_came_back_is_ticked_off_and_counts_no_more(touch: Table) -> None:
    """Catches: a dealer who cannot say that the money is back, or says it twice."""
    touch.start("2A", "5A")
    settled(touch, "four-aces", 800_075, 7)
    touch.accept(commands.tick(2, 100))
    touch.accept(commands.reversed_win(7))
    assert "to give back" in touch.refuse(commands.end())
    assert "tick it off first" in touch.refuse(commands.void())
    back = touch.accept(commands.tick(2, 900))
    assert back == [(numbers.TAKEN_BACK, {1: 1, 2: 2, 3: 10_000, 4: 900})]
    assert paying.back_by_seat(touch.state) == []
    assert "Nothing is due" in touch.refuse(commands.tick(2, 950))
    touch.accept(commands.end())


def test_what_several_seats_got_is_told_as_one_sum(touch: Table) -> None:
    """Catches: the whole sum asked of a seat that got a part of it."""
    touch.start("2A", "5A")
    settled(touch, "four-aces", 800_075, 7)
    for seat in (2, 5):
        touch.accept(commands.tick(seat, 100))
    touch.accept(commands.reversed_win(7))
    said = paying.reversal_sentence(touch.state, 7)
    assert said == "Win 7 was reversed. Take back $8,100.75 in all from seats 5, 2."
