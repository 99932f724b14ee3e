"""Evenings at the shipped tables: what was dealt by the rules is what the books have."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from manager.app import Manager
from protocol.settings import TableSettings
from sim.__main__ import main
from sim.evening.command import play
from sim.evening.dealing import Dealer
from sim.evening.people import Evening, EveningError
from sim.floor import table_path
from sim.loop import run_virtual

TOUCH_TABLES = [
    "crazy-4-multi-link",
    "face-up-pai-gow-dual",
    "four-card-touch",
    "i-luv-suits-house",
]


def settings_of(name: str) -> TableSettings:
    manager = Manager(":memory:", lambda: 0)
    manager.open_table_file(table_path(name))
    return manager.book.tables.rules(name).settings


@pytest.mark.parametrize("name", TOUCH_TABLES)
def test_an_evening_is_in_the_books_as_it_was_dealt(name: str) -> None:
    evening, problem = run_virtual(play(name, 30, seed=4))
    assert problem == ""
    assert evening.tally.rounds == 30
    assert sum(evening.tally.hands.values()) >= 1, "nobody won anything: the test shows nothing"


def test_the_seed_decides_the_whole_evening() -> None:
    first, _ = run_virtual(play("i-luv-suits-house", 12, seed=9))
    second, _ = run_virtual(play("i-luv-suits-house", 12, seed=9))
    other, _ = run_virtual(play("i-luv-suits-house", 12, seed=10))
    assert first.tally == second.tally
    assert first.tally != other.tally


def test_a_hand_that_is_not_entered_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forget(self: Evening, dealt: object) -> None:
        return

    monkeypatch.setattr(Evening, "_enter", forget)
    with pytest.raises(EveningError, match="but the books have"):
        run_virtual(play("i-luv-suits-house", 30, seed=4))


@pytest.mark.parametrize("qualify", [True, False])
def test_a_folded_hand_wins_only_where_the_house_says_so(qualify: bool) -> None:
    """Catches: the choice on folded hands asked for and not followed."""
    settings = replace(settings_of("i-luv-suits-house"), folded_hands_qualify=qualify)
    dealer = Dealer(settings, random.Random(2))
    seats = range(1, 7)
    won_folded = 0
    for _ in range(400):
        dealt = dealer.deal(seats, [f"{seat}A" for seat in seats])
        won_folded += sum(int(sensor[:-1]) in dealt.folded for sensor in dealt.winners)
    assert (won_folded > 0) is qualify


@pytest.mark.parametrize(
    ("name", "players_max"),
    [("four-card-touch", 7), ("face-up-pai-gow-dual", 6), ("i-luv-suits-house", 6)],
)
def test_one_deck_serves_so_many_players(name: str, players_max: int) -> None:
    assert Dealer(settings_of(name), random.Random(1)).players_max == players_max


def test_the_command_puts_what_was_dealt_beside_the_odds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evening", "--table", "four-card-touch", "--rounds", "5"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("5 rounds, bets ")
    assert "Three of a Kind" in printed
    assert "the books are sound" in printed
    assert main(["evening", "--table", "four-card-keypad"]) == 1
    assert "no touch table" in capsys.readouterr().out
