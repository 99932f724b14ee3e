"""`python -m manager train GAME`: deals rounds and asks what each bet brings.

For new dealers, and to check a settlement by hand. Nothing here touches a ledger or a table.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence

from manager.games.evaluators.cards import Cards, card_name
from manager.games.rules.settlement import LOSE, PUSH, Settled
from manager.money import MoneyError, cents_from_text, text_from_cents
from manager.training.deal import Seat, deal_round
from manager.training.tables import TABLES

SEATS_MAX = 6
Ask = Callable[[str], str]


def main(arguments: Sequence[str], ask: Ask = input) -> int:
    options = _parser().parse_args(arguments)
    table, chance = TABLES[options.game], random.Random(options.seed)
    asked = right = 0
    print(f"{table.title}; seed {options.seed}. Answer with what the house pays (0.00 for none),")
    print("`push` when the wager goes back, or leave it empty to see the answer.")
    for number in range(1, options.rounds + 1):
        seats = sorted(chance.sample(range(1, SEATS_MAX + 1), options.seats))
        dealt = deal_round(table, seats, chance)
        print(f"\nRound {number}. Dealer: {_cards(dealt.dealer)}")
        for seat in reversed(dealt.seats):  # the dealer reconciles from his right
            _show(seat)
            for bet in seat.settled:
                asked += 1
                right += _question(bet, ask, options.show)
    if not options.show:
        print(f"\n{right} of {asked} right")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager train", description=__doc__)
    parser.add_argument("game", choices=sorted(TABLES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seats", type=int, default=2, choices=range(1, SEATS_MAX))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="show the answers, ask nothing")
    return parser


def _show(seat: Seat) -> None:
    played = f", plays {seat.play_times} times the ANTE" if seat.play_times else ""
    print(f"Seat {seat.number}: {_cards(seat.cards)}{played}")


def _question(bet: Settled, ask: Ask, show: bool) -> bool:
    wager = f"  {bet.bet} {text_from_cents(bet.wager_cents)}"
    if show:
        print(f"{wager}: {_answer(bet)}")
        return True
    given = ask(f"{wager} ? ").strip().lower()
    right = _is_right(bet, given)
    print(f"    {'right' if right else 'no'}: {_answer(bet)}")
    return right


def _is_right(bet: Settled, given: str) -> bool:
    if bet.outcome == PUSH:
        return given == "push"
    try:
        return cents_from_text(given, "An answer") == bet.pay_cents
    except MoneyError:
        return False


def _answer(bet: Settled) -> str:
    hand = f" ({bet.hand_id})" if bet.hand_id else ""
    if bet.outcome == PUSH:
        return f"push{hand}"
    return (
        "0.00, the wager is taken"
        if bet.outcome == LOSE
        else (f"{text_from_cents(bet.pay_cents)}{hand}")
    )


def _cards(cards: Cards) -> str:
    return " ".join(card_name(card) for card in cards)
