"""Evenings at the shipped tables: what was dealt by the rules is what the books have."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

import pytest

from manager.app import Manager
from manager.games.rules.aggregate import PER_TABLE, AggregateLimit
from protocol.wire.settings import TableSettings
from sim.__main__ import main
from sim.runs.evening import people
from sim.runs.evening.command import play, report
from sim.runs.evening.dealing import Dealer, Dealt
from sim.runs.evening.people import Evening, EveningError
from sim.time.loop import run_virtual
from tests.kit.places import table_path

EVENING_TABLES = [
    "crazy-4-multi-link",
    "face-up-pai-gow-dual",
    "four-card-keypad",
    "four-card-touch",
    "i-luv-suits-house",
]


def settings_of(name: str) -> TableSettings:
    manager = Manager(":memory:", lambda: 0)
    manager.open_table_file(table_path(name))
    return manager.book.tables.rules(name).settings


@pytest.mark.parametrize("name", EVENING_TABLES)
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


def test_a_jackpot_at_a_keypad_table_is_entered_by_hand_seat_and_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cards rarely bring one: here each round does, at the highest bet."""
    rig(monkeypatch, "four-aces")
    evening, problem = run_virtual(play("four-card-keypad", 4, seed=2))
    assert problem == ""
    assert evening.tally.hands["A", "four-aces"] == 4


def rig(monkeypatch: pytest.MonkeyPatch, hand: str) -> None:
    """Each round brings this hand at its highest bet."""
    deal = Dealer.deal

    def rigged(self: Dealer, seats: Iterable[int], bets: Iterable[str]) -> Dealt:
        bets = list(bets)
        dealt = deal(self, seats, bets)
        return Dealt({bets[-1]: self.paytables["A"].hand(hand)}, dealt.folded)

    monkeypatch.setattr(Dealer, "deal", rigged)


def test_an_aggregate_limit_is_applied_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A straight flush is 99 to 1 on a dollar; a limit of $50 leaves $50 of it, in the report."""
    rig(monkeypatch, "straight-flush")
    limit = AggregateLimit(5000, PER_TABLE)
    monkeypatch.setattr(people, "_limit_of", lambda _settings: limit)
    evening, problem = run_virtual(play("four-card-touch", 3, seed=2))
    assert problem == ""
    assert (evening.tally.limited_rounds, evening.tally.cut_cents) == (3, 3 * 4900)
    lines = list(report(evening))
    assert (
        "aggregate limit 50.00 for each table: passed in 3 rounds, 147.00 less is due" in lines[1]
    )


def test_a_keypad_without_seat_keys_is_refused_with_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evening", "--table", "face-up-pai-gow-keypad"]) == 1
    assert "has no key for each seat" in capsys.readouterr().out
