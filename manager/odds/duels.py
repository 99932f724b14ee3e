"""Exact counts of two hands from one deck: the player's five cards against the dealer's.

For each class of player hands it counts the dealer's hands that are higher, equal, lower,
below king-high, or below each category. Dealer hands that share a card with the player are
taken out by inclusion and exclusion over the player's cards, so no pair of hands is ever
enumerated: for a set S of cards, a table counts the dealer hands that contain S by strength,
and is built from the sets one card larger. Knows four-card strengths, not bets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from manager.odds.card_sets import Rows, add_card, card_bits, grown_rows, rows_of
from manager.odds.classes import all_classes
from manager.odds.strengths import (
    CATEGORY_STARTS,
    KING_HIGH,
    Strengths,
    four_card_strengths,
)

PLAYER_CARDS = 5
_LIMITS = (KING_HIGH, *CATEGORY_STARTS)
_DENSE_CARDS = 4  # sets of five cards are too many to give each a row of strengths

Counts = NDArray[np.int64]
Levels = NDArray[np.int16]
Table = NDArray[np.uint16] | NDArray[np.int32]


@dataclass(frozen=True)
class Duels:
    """Per class of player hands: weight, strength, and the dealer's hands around it."""

    weights: Counts
    strengths: Strengths
    higher: Counts
    equal: Counts
    lower: Counts
    below_king_high: Counts
    below_category: tuple[Counts, ...]
    dealer_hands: int
    total: int


@cache
def duels(dealer_cards: int) -> Duels:
    """Count the dealer's hands of five or six cards against every player hand."""
    players = all_classes(PLAYER_CARDS)
    strengths = four_card_strengths(players.suits)
    levels = np.unique(strengths)
    tally = _Tally(np.searchsorted(levels, strengths), np.searchsorted(levels, _LIMITS))
    completions = _completions(levels) if dealer_cards > PLAYER_CARDS else []
    _take_whole_player(tally, completions)
    cards = card_bits(players, PLAYER_CARDS)
    tables = _dense_tables(dealer_cards, levels, completions)
    for size in range(_DENSE_CARDS, -1, -1):
        table = tables.pop()
        running = np.empty_like(table)
        np.cumsum(table, axis=1, out=running)
        for places in combinations(range(PLAYER_CARDS), size):
            tally.add((-1) ** size, table, running, rows_of(cards[:, list(places)], size))
    dealer_hands = comb(52 - PLAYER_CARDS, dealer_cards)
    return Duels(
        weights=players.weights.astype(np.int64),
        strengths=strengths,
        higher=dealer_hands - tally.equal - tally.lower,
        equal=tally.equal,
        lower=tally.lower,
        below_king_high=tally.below[0],
        below_category=tuple(tally.below[1:]),
        dealer_hands=dealer_hands,
        total=comb(52, PLAYER_CARDS) * dealer_hands,
    )


class _Tally:
    """Sums the signed terms of inclusion and exclusion for every player class."""

    def __init__(self, own: Rows, limits: Rows) -> None:
        self.own = own
        self.limits = [int(limit) for limit in limits]
        self.equal = np.zeros(len(own), np.int64)
        self.lower = np.zeros(len(own), np.int64)
        self.below = [np.zeros(len(own), np.int64) for _ in limits]

    def add(self, sign: int, table: Table, running: Table, rows: Rows) -> None:
        equal = table[rows, self.own].astype(np.int64)
        self.equal += sign * equal
        self.lower += sign * (running[rows, self.own] - equal)
        for limit, below in zip(self.limits, self.below, strict=True):
            if limit:
                below += sign * running[rows, limit - 1].astype(np.int64)

    def take(self, reached: Levels) -> None:
        """Take off one dealer hand that holds the player's five cards; -1 is no such hand."""
        held = reached >= 0
        self.equal -= held & (reached == self.own)
        self.lower -= held & (reached < self.own)
        for limit, below in zip(self.limits, self.below, strict=True):
            below -= held & (reached < limit)


def _take_whole_player(tally: _Tally, completions: list[Levels]) -> None:
    """The last term: dealer hands that hold all of the player's cards."""
    for reached in completions or [tally.own.astype(np.int16)]:
        tally.take(reached)


def _dense_tables(dealer_cards: int, levels: Strengths, completions: list[Levels]) -> list[Table]:
    """For sets of 0 to 4 cards: dealer hands that contain each set, by strength level."""
    largest = _six_card_table(levels, completions) if completions else _five_card_table(levels)
    tables: list[Table] = [largest]
    for size in range(_DENSE_CARDS - 1, -1, -1):
        tables.insert(0, _shrink(tables[0], size, dealer_cards))
    return tables


def _five_card_table(levels: Strengths) -> NDArray[np.uint16]:
    """For sets of four cards: the dealer's hands of five that contain them."""
    sets = all_classes(_DENSE_CARDS)
    table = np.zeros((len(sets.weights), len(levels)), dtype=np.uint16)
    rows = np.arange(len(sets.weights))
    for card in range(52):
        free, suits = add_card(sets, card)
        table[rows[free], np.searchsorted(levels, four_card_strengths(suits))] += 1
    return table


def _six_card_table(levels: Strengths, completions: list[Levels]) -> NDArray[np.uint16]:
    """For sets of four cards: the dealer's hands of six that contain them."""
    sets = all_classes(_DENSE_CARDS)
    table = np.zeros((len(sets.weights), len(levels) + 1), dtype=np.uint16)
    rows = np.arange(len(sets.weights))
    for card in range(52):
        free, grown = grown_rows(sets, card, PLAYER_CARDS)
        held = rows[free]
        for reached in completions:
            # A completion that is no hand (-1) falls into the spare last column.
            table[held, reached[grown]] += 1
    # Every pair of added cards was met in both orders.
    return table[:, :-1] // 2


def _completions(levels: Strengths) -> list[Levels]:
    """Per sixth card: the level each five-card class reaches with it, -1 if it holds it."""
    sets = all_classes(PLAYER_CARDS)
    columns = []
    for card in range(52):
        free, suits = add_card(sets, card)
        column = np.full(len(free), -1, dtype=np.int16)
        column[free] = np.searchsorted(levels, four_card_strengths(suits))
        columns.append(column)
    return columns


def _shrink(table: Table, size: int, dealer_cards: int) -> NDArray[np.int32]:
    """From sets of ``size`` + 1 cards to sets of ``size``; each dealer hand that holds the
    smaller set is met once for every further card it holds."""
    sets = all_classes(size)
    smaller = np.zeros((len(sets.weights), table.shape[1]), dtype=np.int64)
    for card in range(52):
        free, grown = grown_rows(sets, card, size + 1)
        smaller[free] += table[grown]
    smaller //= dealer_cards - size
    return smaller.astype(np.int32)
