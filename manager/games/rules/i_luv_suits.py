"""I Luv Suits Poker: seven cards each, the longer flush wins, then its ranks from the top.

PLAY is the ANTE, up to twice with a five-card flush, up to three times with six or more.
The dealer qualifies with a three-card flush, nine-high or better. Flush Rush and Super
Flush Rush pay by the player's own cards, also when he folds.
"""

from __future__ import annotations

from dataclasses import dataclass

from manager.games.evaluators.cards import Cards
from manager.games.evaluators.strength import Strength, flush_strength
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
_NINE = 7
_QUALIFYING: Strength = (3, _NINE)


@dataclass(frozen=True)
class Wagers:
    """A player's bets in cents; PLAY 0 is a fold."""

    ante_cents: int
    play_cents: int = 0
    flush_rush_cents: int = 0
    super_flush_rush_cents: int = 0


@dataclass(frozen=True)
class Paytables:
    """The paytables in force at the table."""

    flush_rush: Paytable
    super_flush_rush: Paytable


def settle(player: Cards, dealer: Cards, wagers: Wagers, tables: Paytables) -> list[Settled]:
    """Settle every bet of one player."""
    check_deal([(player, CARDS), (dealer, CARDS)])
    check_wagers(
        ante_cents=wagers.ante_cents,
        flush_rush_cents=wagers.flush_rush_cents,
        super_flush_rush_cents=wagers.super_flush_rush_cents,
    )
    if wagers.ante_cents == 0:
        raise RuleError("The game begins with an ANTE.")
    own, other = flush_strength(player), flush_strength(dealer)
    check_play(wagers.play_cents, wagers.ante_cents, play_times_max(own))
    settled = _play_and_ante(own, other, wagers)
    if wagers.flush_rush_cents:
        settled.append(pay_cards(tables.flush_rush, wagers.flush_rush_cents, player))
    if wagers.super_flush_rush_cents:
        settled.append(pay_cards(tables.super_flush_rush, wagers.super_flush_rush_cents, player))
    return settled


def qualifies(dealer: Strength) -> bool:
    """A three-card nine-high flush or better."""
    return dealer >= _QUALIFYING


def play_times_max(own: Strength) -> int:
    """How many times the ANTE this flush may play."""
    return max(1, min(own[0] - 3, 3))


def choose_play(player: Cards) -> int:
    """A simple strategy: the most allowed, fold what would not qualify for the dealer."""
    own = flush_strength(player)
    return play_times_max(own) if own >= _QUALIFYING else 0


def _play_and_ante(own: Strength, other: Strength, wagers: Wagers) -> list[Settled]:
    if wagers.play_cents == 0:
        return [lose("ante", wagers.ante_cents)]
    if not qualifies(other):
        return [push("play", wagers.play_cents), win("ante", wagers.ante_cents)]
    settle_bet = push if own == other else win if own > other else lose
    return [settle_bet("play", wagers.play_cents), settle_bet("ante", wagers.ante_cents)]
