"""Deals a round from a shuffled deck and settles every seat by the rules of play."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from manager.games import Hand, Paytable
from manager.games.evaluators.cards import Cards
from manager.games.evaluators.plain import paid_hand
from manager.games.rules.aggregate import AggregateLimit, apply_limit
from manager.games.rules.settlement import Settled
from manager.training.tables import ENVY, Papers, TrainingTable

# A hand that pays envy is dealt once in hundreds of hands; nobody waits longer than this.
DEALS_MAX = 5000


@dataclass(frozen=True)
class Seat:
    """`settled` is what the rules pay; `paid` is the same under the house's aggregate limit."""

    number: int
    cards: Cards
    play_times: int
    settled: list[Settled]
    paid: list[Settled]


@dataclass(frozen=True)
class Round:
    dealer: Cards
    seats: list[Seat]


def deal_round(
    table: TrainingTable,
    seats: list[int],
    chance: random.Random,
    papers: Papers | None = None,
    limit: AggregateLimit | None = None,
) -> Round:
    """One round for the given seats, dealt in rotation from one deck."""
    papers = table.papers() if papers is None else papers
    deck = chance.sample(range(table.deck), table.dealer_cards + table.player_cards * len(seats))
    dealer = tuple(deck[: table.dealer_cards])
    hands, times, settled = {}, {}, {}
    for index, number in enumerate(seats):
        first = table.dealer_cards + index * table.player_cards
        hands[number] = tuple(deck[first : first + table.player_cards])
        times[number], settled[number] = table.settle(hands[number], dealer, papers)
    for number, bets in table.settle_round(dealer, hands, papers).items():
        settled[number] = [*settled[number], *bets]
    paid = apply_limit(limit, settled) if limit else settled
    return Round(
        dealer,
        [Seat(n, hands[n], times[n], list(settled[n]), list(paid[n])) for n in seats],
    )


def deal_until(
    deal: Callable[[], Round],
    is_worth_it: Callable[[Round], bool],
    deals_max: int = DEALS_MAX,
) -> Round:
    """Deals again until a round shows what it is dealt for, or gives up and takes the last."""
    dealt = deal()
    for _ in range(deals_max):
        if is_worth_it(dealt):
            break
        dealt = deal()
    return dealt


def has_big_pay(dealt: Round) -> bool:
    """Somebody is paid twenty times a wager or more, or gets envy."""
    bets = [bet for seat in dealt.seats for bet in seat.settled]
    return any(
        bet.pay_cents >= 20 * bet.wager_cents > 0 or (bet.bet == ENVY and bet.pay_cents)
        for bet in bets
    )


def jackpot_hand(paytable: Paytable, cards: Cards) -> Hand | None:
    """The hand this seat's jackpot bet wins with, if any: what the dealer presses."""
    return paid_hand(paytable, cards)
