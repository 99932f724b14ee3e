"""Ace-high pai gow of the dealer, and of dealer and player at once, by combinatorics.

An ace-high pai gow is seven cards (53, joker included) with an ace, or the joker as the
ace, and no pair, straight or flush. Two such hands share no card; how many suit patterns
they allow depends only on how many ranks they have in common, so counting needs no
enumeration of hands.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray

from manager.odds.masks import ACE_BIT, ALL_MASKS, POPCOUNT, holds_run

CARDS = 7
DECK = 53
SuitCounts = tuple[int, ...]


@dataclass(frozen=True)
class _Kind:
    """Ace-high hands with or without the joker: rank sets, and the longest suit allowed."""

    ranks: int
    suit_max: int
    rank_sets: tuple[int, ...]


@dataclass(frozen=True)
class AceHighCounts:
    """Deals of a dealer and a player hand, by what the bet pays for."""

    both: int
    dealer_with_joker: int
    dealer_without_joker: int
    total: int


@cache
def ace_high_counts() -> AceHighCounts:
    """Exact counts over all deals of a dealer and a player hand."""
    natural, joker = _natural_kind(), _joker_kind()
    player_hands = comb(DECK - CARDS, CARDS)
    both_joker = _pairs(joker, natural)
    both_natural = _pairs(natural, natural) + _pairs(natural, joker)
    return AceHighCounts(
        both=both_joker + both_natural,
        dealer_with_joker=single_count(joker=True) * player_hands - both_joker,
        dealer_without_joker=single_count(joker=False) * player_hands - both_natural,
        total=comb(DECK, CARDS) * player_hands,
    )


def single_count(joker: bool) -> int:
    """Ace-high seven-card hands with or without the joker."""
    kind = _joker_kind() if joker else _natural_kind()
    return len(kind.rank_sets) * _finish((0, 0, 0, 0), kind.ranks, kind.suit_max)


@cache
def _natural_kind() -> _Kind:
    fits = (POPCOUNT == 7) & ((ALL_MASKS & ACE_BIT) != 0) & ~holds_run(5)
    return _Kind(7, 4, tuple(np.flatnonzero(fits).tolist()))


@cache
def _joker_kind() -> _Kind:
    """The joker is the ace, so no natural ace, and it may complete no straight or flush."""
    fits = (POPCOUNT == 6) & ((ALL_MASKS & ACE_BIT) == 0) & ~holds_run(5, missing=1)
    return _Kind(6, 3, tuple(np.flatnonzero(fits).tolist()))


def _pairs(dealer: _Kind, player: _Kind) -> int:
    overlaps = _overlaps(np.array(dealer.rank_sets), np.array(player.rank_sets))
    return sum(sets * _suit_patterns(dealer, player, common) for common, sets in overlaps.items())


def _overlaps(dealer: NDArray[np.int64], player: NDArray[np.int64]) -> dict[int, int]:
    """How many pairs of rank sets have how many ranks in common."""
    common = POPCOUNT[dealer[:, None] & player[None, :]]
    return {int(size): int((common == size).sum()) for size in np.unique(common)}


def _suit_patterns(dealer: _Kind, player: _Kind, common: int) -> int:
    """Suits for both hands: different on each common rank, and no flush on either side."""
    return sum(
        ways
        * _finish(dealer_suits, dealer.ranks - common, dealer.suit_max)
        * _finish(player_suits, player.ranks - common, player.suit_max)
        for (dealer_suits, player_suits), ways in _common_suits(common).items()
    )


@cache
def _common_suits(common: int) -> dict[tuple[SuitCounts, SuitCounts], int]:
    """Suit counts of both hands over the common ranks."""
    if common == 0:
        return {((0, 0, 0, 0), (0, 0, 0, 0)): 1}
    counts: Counter[tuple[SuitCounts, SuitCounts]] = Counter()
    for (dealer, player), ways in _common_suits(common - 1).items():
        for one, other in product(range(4), repeat=2):
            if one != other:
                counts[_plus(dealer, one), _plus(player, other)] += ways
    return dict(counts)


@cache
def _finish(suits: SuitCounts, cards: int, suit_max: int) -> int:
    """Ways to give suits to further cards so that no suit grows beyond ``suit_max``."""
    if max(suits) > suit_max:
        return 0
    if cards == 0:
        return 1
    return sum(_finish(_plus(suits, suit), cards - 1, suit_max) for suit in range(4))


def _plus(suits: SuitCounts, suit: int) -> SuitCounts:
    return tuple(count + (number == suit) for number, count in enumerate(suits))
