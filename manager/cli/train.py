"""`python -m manager train GAME`: deals rounds and asks what each bet brings.

For new dealers, and to check a settlement by hand. Nothing here touches a ledger or a table.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial

from kit.command_line import asked, whole
from manager.games.rules.aggregate import PER_PLAYER, PER_TABLE
from manager.games.rules.settlement import RuleError, Settled
from manager.money import MoneyError
from manager.training.deal import Seat, deal_round, deal_until, has_big_pay
from manager.training.questions import (
    SEATS_MAX,
    answer,
    cards_text,
    is_right,
    limit_of,
    posted,
    question,
)
from manager.training.tables import TABLES

Ask = Callable[[str], str]


def main(arguments: Sequence[str], ask: Ask = asked) -> int:
    options = _parser().parse_args(arguments)
    table, chance = TABLES[options.game], random.Random(options.seed)
    try:
        papers, limit = table.papers(options.paytable), limit_of(options.limit, options.per)
    except (RuleError, MoneyError) as error:
        print(error, file=sys.stderr)
        return 2
    asked = right = 0
    print(f"{table.title}; seed {options.seed}. Answer with what the house pays (0.00 for none),")
    print("`push` when the wager goes back, or leave it empty to see the answer.")
    for line in posted(table, papers, limit):
        print(line)
    for number in range(1, options.rounds + 1):
        seats = sorted(chance.sample(range(1, SEATS_MAX + 1), options.seats))
        deal = partial(deal_round, table, seats, chance, papers, limit)
        dealt = deal_until(deal, has_big_pay) if options.big else deal()
        print(f"\nRound {number}. Dealer: {cards_text(dealt.dealer)}")
        for seat in reversed(dealt.seats):  # the dealer reconciles from his right
            _show(seat)
            for rule, bet in zip(seat.settled, seat.paid, strict=True):
                asked += 1
                right += _question(seat, rule, bet, ask, options.show)
    if not options.show:
        print(f"\n{right} of {asked} right")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager train", description=__doc__)
    parser.add_argument("game", choices=sorted(TABLES))
    parser.add_argument("--rounds", type=whole(1), default=3)
    parser.add_argument("--seats", type=whole(1), default=2, choices=range(1, SEATS_MAX))
    parser.add_argument("--seed", type=whole(), default=1)
    parser.add_argument("--show", action="store_true", help="show the answers, ask nothing")
    parser.add_argument(
        "--paytable",
        action="append",
        default=[],
        metavar="ID",
        help="in place of the usual one of its bet, such as four-card/aces-up/FCP-02; repeatable",
    )
    parser.add_argument("--big", action="store_true", help="only rounds with a big pay or envy")
    parser.add_argument("--limit", default="", metavar="AMOUNT", help="the house's aggregate limit")
    parser.add_argument("--per", choices=(PER_TABLE, PER_PLAYER), default=PER_TABLE)
    return parser


def _show(seat: Seat) -> None:
    played = f", plays {seat.play_times} times the ANTE" if seat.play_times else ""
    print(f"Seat {seat.number}: {cards_text(seat.cards)}{played}")


def _question(seat: Seat, rule: Settled, bet: Settled, ask: Ask, show: bool) -> bool:
    wager = f"  {question(seat, bet)}"
    if show:
        print(f"{wager}: {answer(rule, bet)}")
        return True
    right = is_right(bet, ask(f"{wager} ? "))
    print(f"    {'right' if right else 'no'}: {answer(rule, bet)}")
    return right
