"""Seats of one player, and a table that the house has stopped."""

from __future__ import annotations

from typing import Any

from controller.buttons import command_of
from controller.core import commands, kinds, payout
from controller.core.replay import apply
from controller.core.round import RoundState


def test_joined_seats_are_told_with_the_start_and_outlive_a_power_cut(touch: Any) -> None:
    touch.accept(commands.join([5, 2]))
    touch.start("2A", "5A", "7A")
    kind, body = touch.log[-1]
    assert (kind, body[64]) == (kinds.ROUND_START, [[2, 5]])
    rebuilt = RoundState()
    apply(rebuilt, (kind, body))
    assert rebuilt.joined == [[2, 5]]


def test_a_start_without_joined_seats_is_the_event_it_always_was(touch: Any) -> None:
    touch.start("2A")
    assert sorted(touch.log[-1][1]) == [1, 2, 3]


def test_one_player_at_two_seats_gets_no_envy_from_himself(touch: Any) -> None:
    lines = [["5A", "four-aces"]]
    sheet = payout.envy_sheet(touch.rules, ["2A", "5A", "7A"], lines, [[2, 5]])
    assert sheet == [["7A", 10_000]]


def test_the_same_seats_again_let_them_go_and_other_groups_give_way(touch: Any) -> None:
    touch.accept(commands.join([2, 5]))
    touch.accept(commands.join([1, 3]))
    touch.accept(commands.join([5, 6, 5]))
    assert touch.state.joined == [[1, 3], [5, 6]]
    touch.accept(commands.join([6, 5]))
    assert touch.state.joined == [[1, 3]]


def test_seats_are_joined_for_one_round_and_before_it(touch: Any) -> None:
    touch.accept(commands.join([2, 5]))
    touch.start("2A", "5A")
    assert "before the game" in touch.refuse(commands.join([1, 3]))
    touch.accept(commands.end())
    assert touch.state.joined == []


def test_one_seat_or_a_seat_that_is_not_there_cannot_be_joined(touch: Any) -> None:
    assert "two seats" in touch.refuse(commands.join([2]))
    assert "two seats" in touch.refuse(commands.join([2, 2]))
    assert "no seat 9" in touch.refuse(commands.join([2, 9]))


def test_the_button_names_its_seats(touch: Any) -> None:
    assert command_of("JOIN 2 5", touch) == commands.join([2, 5])
    assert command_of("JOIN 2 x", touch) is None


def test_a_stopped_table_starts_no_game_and_says_why(touch: Any) -> None:
    touch.rules.stop_sentence = "Jackpot Main is suspended. No game can start."
    assert "suspended" in touch.refuse(commands.start(touch.verdicts("2A")))
    touch.rules.stop_sentence = ""
    touch.start("2A")
    touch.rules.stop_sentence = "Jackpot Main is suspended. No game can start."
    touch.select(2, "three-of-a-kind")  # a round under way finishes
