"""Lookup tables over the 8,192 sets of ranks one suit (or one hand) can hold.

A mask has bit 0 for the two up to bit 12 for the ace. Everything the evaluators ask of a
set of ranks is one of these tables; none of them knows about suits.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

MASK_COUNT = 1 << 13
ACE_BIT = 1 << 12
ROYAL = 0b1111100000000
KING_QUEEN = 0b0110000000000

BoolTable = NDArray[np.bool_]
SmallTable = NDArray[np.uint8]
MaskTable = NDArray[np.uint16]

ALL_MASKS: NDArray[np.int64] = np.arange(MASK_COUNT, dtype=np.int64)
POPCOUNT: SmallTable = np.bitwise_count(ALL_MASKS).astype(np.uint8)


def windows(length: int) -> list[int]:
    """Every run of ``length`` ranks as a mask, lowest first; the ace is low, then high."""
    low = ACE_BIT | ((1 << (length - 1)) - 1)
    return [low] + [((1 << length) - 1) << start for start in range(13 - length + 1)]


@cache
def holds_run(length: int, missing: int = 0) -> BoolTable:
    """Masks with a run of ``length`` ranks, of which a joker may fill ``missing``."""
    made = np.zeros(MASK_COUNT, dtype=np.bool_)
    for window in windows(length):
        made |= POPCOUNT[ALL_MASKS & window] >= length - missing
    return made


@cache
def run_high(length: int) -> SmallTable:
    """1 for the lowest run (ace low) upwards; 0 where the mask holds no run of ``length``."""
    high = np.zeros(MASK_COUNT, dtype=np.uint8)
    for number, window in enumerate(windows(length), 1):
        high[(ALL_MASKS & window) == window] = number
    return high


@cache
def longest_run() -> SmallTable:
    """The length of the longest run of ranks in each mask."""
    longest = np.zeros(MASK_COUNT, dtype=np.uint8)
    longest[1:] = 1
    for length in range(2, 14):
        longest[holds_run(length)] = length
    return longest


@cache
def top_ranks(count: int) -> MaskTable:
    """Each mask reduced to its ``count`` highest ranks."""
    top = ALL_MASKS.copy()
    for _ in range(13):
        over = POPCOUNT[top] > count
        top[over] &= top[over] - 1
    return top.astype(np.uint16)


@cache
def top_rank() -> SmallTable:
    """The highest rank of each mask, 0 to 12; 0 for the empty mask."""
    top = np.zeros(MASK_COUNT, dtype=np.uint8)
    for rank in range(13):
        top[(ALL_MASKS >> rank) & 1 == 1] = rank
    return top
