"""Finds the class of any set of up to five cards, so that one row serves all its likes.

Sets are given as suit masks or as bits of one 52-bit integer; the answer is the row of the
set's class in ``all_classes``. Knows nothing of strengths.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from manager.odds.classes import ClassBlock, MaskColumn, all_classes

Rows = NDArray[np.int64]
Bits = NDArray[np.int64]
Suits = tuple[MaskColumn, MaskColumn, MaskColumn, MaskColumn]


def card_bits(sets: ClassBlock, size: int) -> Bits:
    """The cards of each class, one column per card, each as one bit of 52."""
    packed = _pack(sets.suits)
    cards = np.empty((len(packed), size), dtype=np.int64)
    for place in range(size):
        lowest = packed & -packed
        cards[:, place] = lowest
        packed ^= lowest
    return cards


def rows_of(cards: Bits, size: int) -> Rows:
    """The class row of each set of ``size`` cards, given as columns of bits."""
    packed = cards.sum(axis=1)
    masks = [((packed >> (13 * suit)) & 0x1FFF).astype(np.uint16) for suit in range(4)]
    return _rows((masks[0], masks[1], masks[2], masks[3]), size)


def add_card(sets: ClassBlock, card: int) -> tuple[NDArray[np.bool_], Suits]:
    """Which sets lack the card, and those sets with the card added."""
    suit, bit = card // 13, np.uint16(1 << card % 13)
    free = (sets.suits[suit] & bit) == 0
    columns = [column[free] for column in sets.suits]
    columns[suit] = columns[suit] | bit
    return free, (columns[0], columns[1], columns[2], columns[3])


def grown_rows(sets: ClassBlock, card: int, size: int) -> tuple[NDArray[np.bool_], Rows]:
    """Which sets lack the card, and the class rows of ``size`` cards they become with it."""
    free, suits = add_card(sets, card)
    return free, _rows(suits, size)


def _rows(suits: Suits, size: int) -> Rows:
    keys, order = _key_index(size)
    return order[np.searchsorted(keys, _keys(suits))]


@cache
def _key_index(size: int) -> tuple[Bits, Rows]:
    keys = _keys(all_classes(size).suits)
    order = np.argsort(keys)
    return keys[order], order


def _keys(suits: Suits) -> Bits:
    """One number per class that does not depend on the order of its suits."""
    low, high = np.minimum(suits[0], suits[1]), np.maximum(suits[0], suits[1])
    low_other, high_other = np.minimum(suits[2], suits[3]), np.maximum(suits[2], suits[3])
    least, inner = np.minimum(low, low_other), np.maximum(low, low_other)
    inner_other, most = np.minimum(high, high_other), np.maximum(high, high_other)
    first, second = np.minimum(inner, inner_other), np.maximum(inner, inner_other)
    return _pack((least, first, second, most))


def _pack(suits: Suits) -> Bits:
    packed = np.zeros(len(suits[0]), dtype=np.int64)
    for suit, masks in enumerate(suits):
        packed |= masks.astype(np.int64) << (13 * suit)
    return packed
