"""High Five Poker: seven cards each from 53, the best five count.

The joker is an ace or completes a straight or flush. PLAY equals the ANTE; the dealer
qualifies with a pair of sixes; Trips pays by the player's own cards, also when he folds.
"""

from __future__ import annotations

from dataclasses import dataclass

from manager.games.evaluators.cards import Cards
from manager.games.evaluators.strength import FIVE_CARD_ORDER, Strength, five_card_strength
from manager.games.model import Paytable
from manager.games.rules.settlement import (
    RuleError,
    Settled,
    check_deal,
    check_play,
    check_wagers,
    lose,
    pay_cards,
    push,
    win,
)

CARDS = 7
_PAIR_OF_SIXES: Strength = (FIVE_CARD_ORDER.index("pair"), 4)
_STRAIGHT: Strength = (FIVE_CARD_ORDER.index("straight"),)


@dataclass(frozen=True)
class Wagers:
    """A player's bets in cents; PLAY 0 is a fold."""

    ante_cents: int
    play_cents: int = 0
    trips_cents: int = 0


def settle(player: Cards, dealer: Cards, wagers: Wagers, trips: Paytable) -> list[Settled]:
    """Settle every bet of one player."""
    check_deal([(player, CARDS), (dealer, CARDS)], jokers=1)
    check_wagers(ante_cents=wagers.ante_cents, trips_cents=wagers.trips_cents)
    if wagers.ante_cents == 0:
        raise RuleError("The game starts with an ANTE.")
    check_play(wagers.play_cents, wagers.ante_cents, 1)
    settled = _play_and_ante(five_card_strength(player), five_card_strength(dealer), wagers)
    if wagers.trips_cents:
        settled.append(pay_cards(trips, wagers.trips_cents, player))
    return settled


def qualifies(dealer: Strength) -> bool:
    """A pair of sixes or better."""
    return dealer >= _PAIR_OF_SIXES


def choose_play(player: Cards) -> int:
    """A simple strategy, not the best one: play a pair or better, fold the rest."""
    return 1 if five_card_strength(player) >= (1,) else 0


def _play_and_ante(own: Strength, other: Strength, wagers: Wagers) -> list[Settled]:
    if wagers.play_cents == 0:
        return [lose("ante", wagers.ante_cents)]
    if not qualifies(other):
        play = win if own >= _STRAIGHT else push
        return [play("play", wagers.play_cents), win("ante", wagers.ante_cents)]
    settle_bet = push if own == other else win if own > other else lose
    return [settle_bet("play", wagers.play_cents), settle_bet("ante", wagers.ante_cents)]
