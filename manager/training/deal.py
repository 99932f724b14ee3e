"""Deals a round from a shuffled deck and settles every seat by the rules of play."""

from __future__ import annotations

import random
from dataclasses import dataclass

from manager.games import Hand, Paytable
from manager.games.evaluators.cards import Cards
from manager.games.evaluators.plain import paid_hand
from manager.games.rules.settlement import Settled
from manager.training.tables import TrainingTable


@dataclass(frozen=True)
class Seat:
    number: int
    cards: Cards
    play_times: int
    settled: list[Settled]


@dataclass(frozen=True)
class Round:
    dealer: Cards
    seats: list[Seat]


def deal_round(table: TrainingTable, seats: list[int], chance: random.Random) -> Round:
    """One round for the given seats, dealt in rotation from one deck."""
    deck = chance.sample(range(table.deck), table.dealer_cards + table.player_cards * len(seats))
    dealer = tuple(deck[: table.dealer_cards])
    dealt = []
    for index, number in enumerate(seats):
        first = table.dealer_cards + index * table.player_cards
        cards = tuple(deck[first : first + table.player_cards])
        times, settled = table.settle(cards, dealer)
        dealt.append(Seat(number, cards, times, settled))
    return Round(dealer, dealt)


def jackpot_hand(paytable: Paytable, cards: Cards) -> Hand | None:
    """The hand this seat's jackpot bet wins with, if any: what the dealer presses."""
    return paid_hand(paytable, cards)
