"""Crazy 4 Poker: five cards each, best four count, the dealer qualifies with king-high.

ANTE and an equal SUPER BONUS are compulsory; PLAY equals the ANTE, or up to three times it
with a pair of aces or better. Queens Up and Bad Beat Bonus are optional.
"""

from __future__ import annotations

from dataclasses import dataclass

from manager.games.evaluators.cards import Cards
from manager.games.evaluators.plain import paid_hand
from manager.games.evaluators.strength import FOUR_CARD_ORDER, Strength, four_card_strength
from manager.games.model import Paytable
from manager.games.rules.bad_beat import settle_bad_beat
from manager.games.rules.settlement import (
    RuleError,
    Settled,
    check_deal,
    check_play,
    check_wagers,
    lose,
    pay_cards,
    pay_hand,
    push,
    win,
)

CARDS = 5
_KING_HIGH: Strength = (0, 11)
_PAIR_OF_ACES: Strength = (FOUR_CARD_ORDER.index("pair"), 12)
_LOWEST_PLAY: Strength = (0, 11, 10, 6, 2)  # K-Q-8-4


@dataclass(frozen=True)
class Wagers:
    """A player's bets in cents; PLAY 0 is a fold."""

    ante_cents: int
    super_bonus_cents: int
    play_cents: int = 0
    queens_up_cents: int = 0
    bad_beat_cents: int = 0


@dataclass(frozen=True)
class Paytables:
    """The paytables in force at the table."""

    super_bonus: Paytable
    queens_up: Paytable
    bad_beat: Paytable | None = None


def settle(player: Cards, dealer: Cards, wagers: Wagers, tables: Paytables) -> list[Settled]:
    """Settle every bet of one player in the order PLAY, ANTE, QUEENS UP, SUPER BONUS."""
    check_deal([(player, CARDS), (dealer, CARDS)])
    own, other = four_card_strength(player), four_card_strength(dealer)
    _check(wagers, tables, own)
    folded = wagers.play_cents == 0
    settled = [lose("ante", wagers.ante_cents)] if folded else _play_and_ante(own, other, wagers)
    if wagers.queens_up_cents:
        settled.append(pay_cards(tables.queens_up, wagers.queens_up_cents, player))
    settled.append(_super_bonus(player, own, other, wagers, tables.super_bonus))
    if wagers.bad_beat_cents and tables.bad_beat:
        settled.append(settle_bad_beat(tables.bad_beat, wagers.bad_beat_cents, own, other, folded))
    return settled


def qualifies(dealer: Strength) -> bool:
    """King-high or better."""
    return dealer >= _KING_HIGH


def play_times_max(own: Strength) -> int:
    """How many times the ANTE this hand may play."""
    return 3 if own >= _PAIR_OF_ACES else 1


def choose_play(player: Cards) -> int:
    """A simple strategy: times the ANTE to play. The most allowed, fold below K-Q-8-4."""
    own = four_card_strength(player)
    return play_times_max(own) if own >= _LOWEST_PLAY else 0


def _check(wagers: Wagers, tables: Paytables, own: Strength) -> None:
    check_wagers(
        ante_cents=wagers.ante_cents,
        super_bonus_cents=wagers.super_bonus_cents,
        play_cents=wagers.play_cents,
        queens_up_cents=wagers.queens_up_cents,
        bad_beat_cents=wagers.bad_beat_cents,
    )
    if wagers.ante_cents == 0 or wagers.super_bonus_cents != wagers.ante_cents:
        raise RuleError("The ANTE and an equal SUPER BONUS wager are compulsory.")
    if wagers.bad_beat_cents and tables.bad_beat is None:
        raise RuleError("This table does not offer the Bad Beat Bonus.")
    check_play(wagers.play_cents, wagers.ante_cents, play_times_max(own))


def _play_and_ante(own: Strength, other: Strength, wagers: Wagers) -> list[Settled]:
    if not qualifies(other):
        return [win("play", wagers.play_cents), push("ante", wagers.ante_cents)]
    settle_bet = push if own == other else win if own > other else lose
    return [settle_bet("play", wagers.play_cents), settle_bet("ante", wagers.ante_cents)]


def _super_bonus(
    player: Cards, own: Strength, other: Strength, wagers: Wagers, table: Paytable
) -> Settled:
    """A straight or better is paid; less pushes against a beaten or tied dealer, else loses."""
    if wagers.play_cents == 0:
        return lose("super-bonus", wagers.super_bonus_cents)
    hand = paid_hand(table, player)
    if hand is not None:
        return pay_hand("super-bonus", wagers.super_bonus_cents, hand)
    settle_bet = push if own >= other else lose
    return settle_bet("super-bonus", wagers.super_bonus_cents)
