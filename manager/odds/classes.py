"""All hands of k cards from 52, one of each kind that suits alone tell apart.

A hand is four sets of ranks. Swapping suits changes no poker hand, so it is enough to
visit each multiset of four sets once and to weigh it with the number of hands it stands
for: 134,459 instead of 2,598,960 hands of five, 6,009,159 instead of 133,784,560 of seven.
Does not rank anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, groupby
from math import factorial

import numpy as np
from numpy.typing import NDArray

from manager.odds.masks import POPCOUNT

CLASSES_PER_BLOCK_MAX = 1 << 19

MaskColumn = NDArray[np.uint16]


@dataclass(frozen=True)
class ClassBlock:
    """Some classes: four columns of suit masks and how many hands each row stands for."""

    suits: tuple[MaskColumn, MaskColumn, MaskColumn, MaskColumn]
    weights: NDArray[np.uint8]


def suit_classes(cards: int) -> Iterator[ClassBlock]:
    """Every class of hands of ``cards`` cards, in blocks of bounded size."""
    for shape in _shapes(cards):
        columns, ways = _groups(shape)
        yield from _products(columns, ways)


def all_classes(cards: int) -> ClassBlock:
    """Every class at once; meant for five or six cards."""
    blocks = list(suit_classes(cards))
    suits = [np.concatenate([block.suits[suit] for block in blocks]) for suit in range(4)]
    weights = np.concatenate([block.weights for block in blocks])
    return ClassBlock((suits[0], suits[1], suits[2], suits[3]), weights)


def _shapes(cards: int) -> list[tuple[int, ...]]:
    """How many cards each suit holds, longest suit first."""
    return [
        shape[::-1] for shape in combinations_with_replacement(range(14), 4) if sum(shape) == cards
    ]


def _groups(shape: tuple[int, ...]) -> tuple[list[MaskColumn], list[NDArray[np.uint8]]]:
    """Per run of equal suit lengths: the multisets of masks, and the suit orders of each."""
    columns, ways = [], []
    for length, members in groupby(shape):
        size = len(list(members))
        masks = np.flatnonzero(np.equal(POPCOUNT, length)).astype(np.uint16)
        rows = _multisets(len(masks), size)
        columns.append(masks[rows])
        ways.append(_orders(rows))
    # Suits of different lengths may be swapped freely: 4! / (size of each group)! ways.
    spread = factorial(4)
    for column in columns:
        spread //= factorial(column.shape[1])
    ways[0] = ways[0] * np.uint8(spread)
    return columns, ways


def _multisets(count: int, size: int) -> NDArray[np.int32]:
    """All rows i <= j <= ... of ``size`` indices below ``count``."""
    rows = np.arange(count, dtype=np.int32)[:, None]
    for _ in range(size - 1):
        repeats = count - rows[:, -1]
        starts = np.repeat(rows[:, -1], repeats)
        offsets = np.arange(len(starts)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        rows = np.column_stack([np.repeat(rows, repeats, axis=0), starts + offsets])
    return rows.astype(np.int32)


def _orders(rows: NDArray[np.int32]) -> NDArray[np.uint8]:
    """In how many different orders each row can stand: size! over the repeats of each value."""
    orders = np.full(len(rows), factorial(rows.shape[1]), dtype=np.uint8)
    run = np.ones(len(rows), dtype=np.uint8)
    for column in range(1, rows.shape[1]):
        run = np.where(rows[:, column] == rows[:, column - 1], run + 1, 1).astype(np.uint8)
        orders //= run
    return orders


def _products(columns: list[MaskColumn], ways: list[NDArray[np.uint8]]) -> Iterator[ClassBlock]:
    """The product of the groups, cut along the first group into blocks of bounded size."""
    rest = 1
    for column in columns[1:]:
        rest *= len(column)
    step = max(1, CLASSES_PER_BLOCK_MAX // rest)
    for start in range(0, len(columns[0]), step):
        yield _product([columns[0][start : start + step], *columns[1:]],
                       [ways[0][start : start + step], *ways[1:]])  # fmt: skip


def _product(columns: list[MaskColumn], ways: list[NDArray[np.uint8]]) -> ClassBlock:
    suits = [columns[0][:, number] for number in range(columns[0].shape[1])]
    weights = ways[0]
    for column, way in zip(columns[1:], ways[1:], strict=True):
        suits = [np.repeat(suit, len(column)) for suit in suits]
        times = len(weights)
        suits += [np.tile(column[:, number], times) for number in range(column.shape[1])]
        weights = np.repeat(weights, len(column)) * np.tile(way, times)
    return ClassBlock((suits[0], suits[1], suits[2], suits[3]), weights)
