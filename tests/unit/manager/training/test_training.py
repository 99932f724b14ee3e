"""Training deals every game by its rules, repeats with its seed, and marks answers."""

from __future__ import annotations

import random

import pytest

from manager.cli.train import main
from manager.games import load_paytable
from manager.games.rules.settlement import LOSE, PUSH, WIN
from manager.training.deal import deal_round, jackpot_hand
from manager.training.tables import TABLES
from tests.kit.playing_cards import parse_cards


@pytest.mark.parametrize("game", sorted(TABLES))
def test_every_game_deals_whole_hands_and_settles_every_bet(game: str) -> None:
    table, chance = TABLES[game], random.Random(1)
    outcomes = set()
    for _ in range(60):
        dealt = deal_round(table, [1, 3, 6], chance)
        cards = [*dealt.dealer, *(card for seat in dealt.seats for card in seat.cards)]
        assert len(set(cards)) == table.dealer_cards + 3 * table.player_cards
        assert all(0 <= card < table.deck for card in cards)
        outcomes |= {bet.outcome for seat in dealt.seats for bet in seat.settled}
    assert {WIN, LOSE} <= outcomes
    assert outcomes <= {WIN, LOSE, PUSH}


def test_the_same_seed_deals_the_same_round() -> None:
    table = TABLES["four-card"]
    rounds = [deal_round(table, [2], random.Random(seed)) for seed in (5, 5, 6)]
    assert rounds[0] == rounds[1] != rounds[2]


def test_the_jackpot_hand_is_what_the_dealer_presses() -> None:
    paytable = load_paytable("four-card/progressive/Pays-1")
    hand = jackpot_hand(paytable, parse_cards("Ac Ad Ah As 2c"))
    assert hand is not None
    assert hand.id == "four-aces"
    assert jackpot_hand(paytable, parse_cards("Ac Kd 9h 5s 2c")) is None


def test_answers_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    main(["four-card", "--rounds", "1", "--seats", "1", "--seed", "3", "--show"])
    shown = capsys.readouterr().out
    answers = [
        line.split(": ", 1)[1].split(",")[0].split(" ")[0]
        for line in shown.splitlines()
        if line.startswith("  ")
    ]
    replies = iter(answers)
    main(["four-card", "--rounds", "1", "--seats", "1", "--seed", "3"], lambda _: next(replies))
    assert f"{len(answers)} of {len(answers)} right" in capsys.readouterr().out
    main(["four-card", "--rounds", "1", "--seats", "1", "--seed", "3"], lambda _: "123.45")
    assert f"0 of {len(answers)} right" in capsys.readouterr().out


def test_envy_is_asked_by_lammer_and_only_a_bet_of_5_dollars_has_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Catches: envy for a small Fortune Bonus, for one's own hand, or for nobody."""
    table = TABLES["face-up-pai-gow"]
    four = parse_cards("9c 9d 9h 9s 2c 3d 5h")  # pays $5 of envy to the others
    hands = {
        1: four,
        2: parse_cards("Kc Qd Th 8s 7c 4d 2h"),
        3: parse_cards("Ac Kd Qh Ts 8d 6c 3h"),
    }
    settled = table.settle_round((), hands, table.papers())
    assert {seat: bets[-1].pay_cents for seat, bets in settled.items()} == {1: 0, 2: 0, 3: 500}
    assert {seat: bets[0].wager_cents for seat, bets in settled.items()} == {1: 500, 2: 200, 3: 500}
    main(["face-up-pai-gow", "--rounds", "1", "--seats", "3", "--show"])
    shown = capsys.readouterr().out
    assert "envy, with a lammer" in shown
    assert "envy, without a lammer" in shown


def test_cover_all_pays_every_seat_for_the_highest_hand_of_all() -> None:
    table, chance = TABLES["caribbean-stud"], random.Random(4)
    for _ in range(50):
        dealt = deal_round(table, [1, 4], chance)
        first, second = (seat.settled for seat in dealt.seats)
        assert first == second
        assert [bet.bet for bet in first] == ["cover-all"]


def test_a_chosen_paytable_takes_the_place_of_the_usual_one() -> None:
    papers = TABLES["four-card"].papers(["four-card/aces-up/FCP-02"])
    assert papers["aces-up"].id == "four-card/aces-up/FCP-02"
    assert papers["bad-beat"].id == "four-card/bad-beat/BBB-01"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--paytable", "crazy-4/queens-up/C4P-09"], "for no bet of this training"),
        (["--paytable", "nothing"], "No pack has the paytable"),
        (["--limit", "5.00"], "at least 50 times the highest wager"),
        (["--limit", "five"], "The limit"),
    ],
)
def test_what_cannot_be_trained_is_refused_with_a_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["four-card", *arguments]) == 2
    assert sentence in capsys.readouterr().err
