"""Seats of one player, and a table that the house has stopped."""

from __future__ import annotations

from typing import Any

from controller.core.round import commands, payout
from controller.core.round.apply import apply
from controller.core.round.decide import RoundState
from controller.core.round.events import RoundStart
from controller.core.round.guide import Around, guide
from controller.inputs.buttons import command_of
from protocol import numbers


def test_joined_seats_are_told_with_the_start_and_outlive_a_power_cut(touch: Any) -> None:
    touch.accept(commands.join([5, 2]))
    touch.start("2A", "5A", "7A")
    kind, body = touch.log[-1]
    assert (kind, body[4]) == (numbers.ROUND_START, [[2, 5]])
    rebuilt = RoundState()
    apply(rebuilt, (kind, body))
    assert rebuilt.joined == [[2, 5]]


def test_a_start_without_joined_seats_says_so(touch: Any) -> None:
    touch.start("2A")
    assert touch.log[-1][1][4] == []


def test_a_start_says_what_was_wagered_at_the_prices_of_that_moment(touch: Any) -> None:
    price_cents = touch.rules.games[0].wager_cents
    touch.start("2A", "5A")
    assert RoundStart(touch.log[-1][1]).wagered_cents == 2 * price_cents


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


def test_seats_stay_joined_until_a_game_without_them(touch: Any) -> None:
    """Catches: a player who gets envy from himself in his second game, or one who left and stays
    joined to whoever sits down there next.
    """
    touch.accept(commands.join([2, 5]))
    touch.start("2A", "5A")
    assert "before the game" in touch.refuse(commands.join([1, 3]))
    touch.accept(commands.end())
    assert touch.state.joined == [[2, 5]]
    touch.start("5A", "7A")
    assert touch.log[-1][1][4] == [[2, 5]]
    touch.accept(commands.end())
    touch.start("7A")
    assert touch.log[-1][1][4] == []
    touch.accept(commands.end())
    assert touch.state.joined == []


def test_joining_and_parting_are_confirmed_by_a_sentence(touch: Any) -> None:
    def said() -> str:
        return guide(touch.state, touch.rules, Around([])).sentence

    touch.accept(commands.join([5, 2]))
    assert said().startswith("Seats 2, 5 are one player as long as they play.")
    touch.accept(commands.join([2, 5]))
    assert said() == "Seats 2, 5 are different players."
    touch.start("2A")
    touch.accept(commands.end())
    assert said() == "Waiting for bets."


def test_one_seat_or_a_seat_that_is_not_there_cannot_be_joined(touch: Any) -> None:
    assert "two seats" in touch.refuse(commands.join([2]))
    assert "two seats" in touch.refuse(commands.join([2, 2]))
    assert "no seat 9" in touch.refuse(commands.join([2, 9]))


def test_the_button_names_its_seats() -> None:
    assert command_of("JOIN 2 5", "", list) == commands.join([2, 5])
    assert command_of("JOIN 2 x", "", list) is None


def test_a_stopped_table_starts_no_game_and_says_why(touch: Any) -> None:
    touch.rules.stop_sentence = "Jackpot Main is suspended. No game can start."
    assert "suspended" in touch.refuse(commands.start(touch.verdicts("2A")))
    touch.rules.stop_sentence = ""
    touch.start("2A")
    touch.rules.stop_sentence = "Jackpot Main is suspended. No game can start."
    touch.select(2, "three-of-a-kind")  # a round under way finishes
