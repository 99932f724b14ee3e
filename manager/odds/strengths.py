"""Ranks four-card hands against each other, for whole columns of hands at once.

The strength of a hand is its category and its deciding ranks in one integer; a higher one
wins and equal ones tie. Order: four of a kind, straight flush, three of a kind, flush,
straight, two pair, pair, high card. Knows nothing of bets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from manager.odds.classes import MaskColumn
from manager.odds.masks import POPCOUNT, run_high, top_rank, top_ranks
from manager.odds.signatures import RankCounts

CATEGORIES = (
    "high-card",
    "pair",
    "two-pair",
    "straight",
    "flush",
    "three-of-a-kind",
    "straight-flush",
    "four-of-a-kind",
)
# Category, rank (4 bits) and kickers (a 13-bit rank mask) share one integer.
CATEGORY_SHIFT = 17
RANK_SHIFT = 13

# The lowest hand with a king that is neither a pair nor better: K-4-3-2.
KING_HIGH = 0b0100000000111
CATEGORY_STARTS = tuple(number << CATEGORY_SHIFT for number in range(len(CATEGORIES)))
FOUR_ACES = CATEGORY_STARTS[-1] | 12

Strengths = NDArray[np.int32]


def four_card_strengths(suits: tuple[MaskColumn, MaskColumn, MaskColumn, MaskColumn]) -> Strengths:
    """The strength of the best four cards of each hand of four or more."""
    ranks = RankCounts(suits)
    strength = top_ranks(4)[ranks.once].astype(np.int32)
    _raise(strength, 1, ranks.twice != 0, _with_kickers(ranks.twice, ranks.once, 2))
    _raise(strength, 2, POPCOUNT[ranks.twice] >= 2, top_ranks(2)[ranks.twice])
    straight = run_high(4)[ranks.once]
    _raise(strength, 3, straight != 0, straight)
    for suit in suits:
        _raise(strength, 4, POPCOUNT[suit] >= 4, top_ranks(4)[suit])
    _raise(strength, 5, ranks.thrice != 0, _with_kickers(ranks.thrice, ranks.once, 1))
    for suit in suits:
        run = run_high(4)[suit]
        _raise(strength, 6, run != 0, run)
    _raise(strength, 7, ranks.four != 0, top_rank()[ranks.four])
    return strength


def category(strengths: Strengths) -> Strengths:
    """The index into ``CATEGORIES`` of each strength."""
    return strengths >> CATEGORY_SHIFT


def _with_kickers(grouped: MaskColumn, once: MaskColumn, kickers: int) -> Strengths:
    """The highest grouped rank, then the highest other ranks."""
    rank = top_rank()[grouped].astype(np.int32)
    others = once & ~(np.uint16(1) << rank.astype(np.uint16))
    return (rank << RANK_SHIFT) | top_ranks(kickers)[others]


def _raise(
    strength: Strengths, number: int, made: NDArray[np.bool_], detail: NDArray[np.generic]
) -> None:
    """Where the category is made, keep the better of it and what stands already."""
    better = (number << CATEGORY_SHIFT) | detail[made].astype(np.int32)
    strength[made] = np.maximum(strength[made], better)
