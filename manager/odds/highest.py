"""The highest of several five-card hands dealt from one deck (the Cover All bet).

Exact for one and two hands. For three to eight hands the part that needs three or more
winning hands at once is simulated with a fixed seed; everything below that is exact, so the
standard error is small and always stated. Knows categories, not pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

from manager.odds.card_sets import grown_rows
from manager.odds.classes import MaskColumn, all_classes
from manager.odds.signatures import five_card_hands

# Lowest first; 0 is any hand below three of a kind.
CATEGORIES = (
    "nothing",
    "three-of-a-kind",
    "straight",
    "flush",
    "full-house",
    "four-of-a-kind",
    "straight-flush",
    "royal-flush",
)
HANDS_MAX = 8
SEED = 20230614  # the date of the approval; any fixed number would do
ROUNDS = 300_000
_ROUNDS_PER_BLOCK = 25_000

Column = NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """A mean and its standard error; the error is 0 where the mean is exact."""

    mean: Fraction
    standard_error: float


@cache
def pair_counts() -> tuple[int, ...]:
    """Ordered pairs of hands without a common card, by the higher category of the two."""
    at_most = [0] * len(CATEGORIES)
    table = _category_table()
    for size in range(5, -1, -1):
        weights = all_classes(size).weights.astype(np.int64)
        for number in range(len(CATEGORIES)):
            containing = table[:, : number + 1].sum(axis=1)
            at_most[number] += (-1) ** size * int((weights * containing**2).sum())
        if size:
            table = _shrink(table, size - 1)
    return tuple(np.diff([0, *at_most]).tolist())


def single_counts() -> tuple[int, ...]:
    """Hands by category."""
    weights = all_classes(5).weights.astype(np.int64)
    return tuple((weights @ _category_table()).tolist())


def sampled_counts(hands: int) -> tuple[int, ...]:
    """Rounds of the simulation by the category of the highest of ``hands`` hands."""
    return _sample().highest[hands]


def expected_value(hands: int, values: Sequence[Fraction]) -> Estimate:
    """The mean of ``values[category of the highest hand]``; ``values[0]`` must be 0."""
    one = _mean(single_counts(), values)
    two = _mean(pair_counts(), values)
    if hands <= 2:
        return Estimate(one if hands == 1 else two, 0.0)
    # Sum over hands, corrected for every pair, is right up to two winning hands.
    exact = hands * one + comb(hands, 2) * (two - 2 * one)
    return _with_rest(exact, hands, values)


def _with_rest(exact: Fraction, hands: int, values: Sequence[Fraction]) -> Estimate:
    total, squares = Fraction(0), Fraction(0)
    for winners, rounds in _sample().crowded[hands].items():
        rest = _rest(winners, values)
        total += rounds * rest
        squares += rounds * rest * rest
    mean = total / ROUNDS
    variance = squares / ROUNDS - mean * mean
    return Estimate(exact + mean, sqrt(float(variance) / ROUNDS))


def _rest(winners: tuple[int, ...], values: Sequence[Fraction]) -> Fraction:
    """What the one- and two-hand terms get wrong for these winning hands (sorted upwards)."""
    single = sum((values[winner] for winner in winners), Fraction(0))
    # In a sorted row the higher of each pair is the later one.
    pairs = sum((place * values[winner] for place, winner in enumerate(winners)), Fraction(0))
    corrections = pairs - (len(winners) - 1) * single
    return values[winners[-1]] - single - corrections


def _mean(counts: Sequence[int], values: Sequence[Fraction]) -> Fraction:
    total = sum(counts)
    weighted = (count * value for count, value in zip(counts, values, strict=True))
    return sum(weighted, Fraction(0)) / total


def _category_table() -> Column:
    """One row per class of five cards with a single 1 under its category."""
    categories = _categories(all_classes(5).suits)
    table: Column = (categories[:, None] == np.arange(len(CATEGORIES))).astype(np.int64)
    return table


def _categories(suits: tuple[MaskColumn, MaskColumn, MaskColumn, MaskColumn]) -> Column:
    made = five_card_hands(suits)
    categories = np.zeros(len(suits[0]), dtype=np.int64)
    for number, name in enumerate(CATEGORIES[1:], 1):
        categories[made[name]] = number
    return categories


def _shrink(table: Column, size: int) -> Column:
    """From hands that contain a set of ``size`` + 1 cards to sets of ``size`` cards."""
    sets = all_classes(size)
    smaller = np.zeros((len(sets.weights), table.shape[1]), dtype=np.int64)
    for card in range(52):
        free, grown = grown_rows(sets, card, size + 1)
        smaller[free] += table[grown]
    return smaller // (5 - size)


@dataclass(frozen=True)
class _Sample:
    """Highest hand per round, and the rounds with three or more winning hands."""

    highest: dict[int, tuple[int, ...]]
    crowded: dict[int, dict[tuple[int, ...], int]]


@cache
def _sample() -> _Sample:
    generator = np.random.Generator(np.random.PCG64(SEED))
    deck = np.tile(np.arange(52, dtype=np.uint8), (_ROUNDS_PER_BLOCK, 1))
    blocks = []
    for _ in range(ROUNDS // _ROUNDS_PER_BLOCK):
        dealt = generator.permuted(deck, axis=1)[:, : 5 * HANDS_MAX]
        blocks.append(np.stack([_dealt_categories(dealt, hand) for hand in range(HANDS_MAX)], 1))
    rounds = np.concatenate(blocks)
    sizes = range(3, HANDS_MAX + 1)
    return _Sample(
        {hands: _highest(rounds[:, :hands]) for hands in sizes},
        {hands: _crowded(rounds[:, :hands]) for hands in sizes},
    )


def _dealt_categories(dealt: NDArray[np.uint8], hand: int) -> Column:
    cards = dealt[:, 5 * hand : 5 * hand + 5]
    bits = np.left_shift(np.uint16(1), (cards % 13).astype(np.uint16))
    suits = [
        np.where(cards // 13 == suit, bits, 0).sum(axis=1).astype(np.uint16) for suit in range(4)
    ]
    return _categories((suits[0], suits[1], suits[2], suits[3]))


def _highest(rounds: Column) -> tuple[int, ...]:
    counts = np.bincount(rounds.max(axis=1), minlength=len(CATEGORIES))
    return tuple(int(count) for count in counts)


def _crowded(rounds: Column) -> dict[tuple[int, ...], int]:
    crowded = rounds[(rounds > 0).sum(axis=1) >= 3]
    rows, counts = np.unique(np.sort(crowded, axis=1), axis=0, return_counts=True)
    found: dict[tuple[int, ...], int] = {}
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        winners = tuple(number for number in row if number)
        found[winners] = found.get(winners, 0) + count
    return found
