"""Exact value of the two base games in which the player decides: Crazy 4 and Four Card.

For every class of player hands it takes the best of folding and of the permitted PLAY
wagers, knowing only the player's own five cards. (The dealer of Four Card Poker shows one
card; using it would lower the edge further, so for that game the figure is the value of
the best play that ignores the card, and is called so.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from manager.games import Paytable, ToOne
from manager.odds.duels import Counts, Duels, duels
from manager.odds.strengths import (
    CATEGORIES,
    CATEGORY_STARTS,
    FOUR_ACES,
    KING_HIGH,
    RANK_SHIFT,
    category,
)

_STRAIGHT = CATEGORIES.index("straight")
_PAIR_OF_ACES = CATEGORY_STARTS[CATEGORIES.index("pair")] | 12 << RANK_SHIFT


@dataclass(frozen=True)
class BaseGameValue:
    """Expected loss and wager in units of the ANTE, and how often a base bet wins."""

    edge_per_ante: Fraction
    wagered_per_ante: Fraction
    hit_frequency: Fraction
    fold_frequency: Fraction
    strategy: str

    @property
    def edge_per_wagered(self) -> Fraction:
        """Expected loss per unit of everything wagered on the base game."""
        return self.edge_per_ante / self.wagered_per_ante


@dataclass(frozen=True)
class _Choice:
    """One thing the player can do: its value per hand, scaled, and what it wagers."""

    value: Counts
    wagered: int


def base_game_value(paytable: Paytable) -> BaseGameValue:
    """The value of the base game that this bonus belongs to."""
    if paytable.base_game == "crazy-4":
        return _crazy_4(paytable)
    if paytable.base_game == "four-card":
        return _four_card(paytable)
    raise ValueError(f"Paytable {paytable.id} belongs to no base game.")


def _crazy_4(paytable: Paytable) -> BaseGameValue:
    table = duels(5)
    scale, bonus = _bonus(table, paytable)
    qualified = table.strengths >= KING_HIGH
    unqualified = table.below_king_high
    beaten = np.where(qualified, table.lower - unqualified, 0)
    ties = np.where(qualified, table.equal, 0)
    beating = table.dealer_hands - unqualified - beaten - ties
    ante = beaten - beating
    play = unqualified + beaten - beating
    straight = category(table.strengths) >= _STRAIGHT
    # Below a straight the Super Bonus is lost to a higher dealer hand and pushes otherwise.
    super_bonus = np.where(straight, bonus * table.dealer_hands, -scale * table.higher)
    single = _Choice(scale * (ante + play) + super_bonus, 3)
    triple = _Choice(scale * (ante + 3 * play) + super_bonus, 5)
    fold = _Choice(np.full(len(ante), -2 * scale * table.dealer_hands), 2)
    allowed = table.strengths >= _PAIR_OF_ACES
    wins = np.where(straight, table.dealer_hands, unqualified + beaten)
    strategy = "best play: fold, PLAY 1x, or 3x with a pair of aces or better"
    return _best(table, scale, [fold, single, _only(triple, allowed, fold)], wins, strategy)


def _four_card(paytable: Paytable) -> BaseGameValue:
    table = duels(6)
    scale, bonus = _bonus(table, paytable)
    won = table.lower + table.equal  # the player wins ties
    margin = won - table.higher
    extra = bonus * table.dealer_hands
    single = _Choice(2 * scale * margin + extra, 2)
    triple = _Choice(4 * scale * margin + extra, 4)
    fold = _Choice(np.full(len(margin), -scale * table.dealer_hands), 1)
    wins = np.where(bonus > 0, table.dealer_hands, won)
    strategy = "best play that ignores the dealer's card face up: fold, PLAY 1x or 3x"
    return _best(table, scale, [fold, single, triple], wins, strategy)


def _bonus(table: Duels, paytable: Paytable) -> tuple[int, Counts]:
    """What the bonus pays each player hand, times a common denominator."""
    pays = {hand.id: hand.pay for hand in paytable.hands}
    scale = lcm(*(pay.denominator for pay in pays.values() if isinstance(pay, ToOne)))

    def scaled(hand_id: str) -> int:
        pay = pays.get(hand_id)
        return pay.numerator * scale // pay.denominator if isinstance(pay, ToOne) else 0

    by_category = np.array([scaled(name) for name in CATEGORIES])
    bonus = by_category[category(table.strengths)]
    if "four-aces" in pays:
        bonus = np.where(table.strengths == FOUR_ACES, scaled("four-aces"), bonus)
    return scale, bonus


def _only(choice: _Choice, allowed: NDArray[np.bool_], instead: _Choice) -> _Choice:
    """The choice where it is allowed; elsewhere as bad as ``instead``, so never better."""
    return _Choice(np.where(allowed, choice.value, instead.value), choice.wagered)


def _best(
    table: Duels, scale: int, choices: list[_Choice], wins: Counts, strategy: str
) -> BaseGameValue:
    """Take the best choice for every hand; the first choice is to fold, and wins its ties."""
    value, wagered = choices[0].value, np.full(len(table.weights), choices[0].wagered)
    for choice in choices[1:]:
        better = choice.value > value
        value = np.where(better, choice.value, value)
        wagered = np.where(better, choice.wagered, wagered)
    folded = wagered == choices[0].wagered
    hands = int(table.weights.sum())
    return BaseGameValue(
        edge_per_ante=Fraction(-int((table.weights * value).sum()), scale * table.total),
        wagered_per_ante=Fraction(int((table.weights * wagered).sum()), hands),
        hit_frequency=Fraction(int((table.weights * wins * ~folded).sum()), table.total),
        fold_frequency=Fraction(int((table.weights * folded).sum()), hands),
        strategy=strategy,
    )
