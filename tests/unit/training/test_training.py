"""Training deals every game by its rules, repeats with its seed, and marks answers."""

from __future__ import annotations

import random

import pytest

from manager.games import load_paytable
from manager.games.evaluators.cards import parse_cards
from manager.games.rules.settlement import LOSE, PUSH, WIN
from manager.training.cli import main
from manager.training.deal import deal_round, jackpot_hand
from manager.training.tables import TABLES


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
