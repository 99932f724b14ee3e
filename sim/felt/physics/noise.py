"""Noise that is a function of its key and the sample's number, so that nothing is kept or replayed.

The same sample always has the same noise, whoever asks and in whatever order; samples nobody asks
for cost nothing.
"""

from __future__ import annotations

from statistics import NormalDist

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
TABLE_BITS = 13

_QUANTILES = [
    NormalDist().inv_cdf((index + 0.5) / (1 << TABLE_BITS)) for index in range(1 << TABLE_BITS)
]
EXTREME = _QUANTILES[-1]  # No sample lies further out than this many times the rms.


def gauss(key: int, number: int) -> float:
    """A draw from the standard normal distribution for sample `number` of the series `key`."""
    mixed = (key + number * GOLDEN) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
    return _QUANTILES[(mixed ^ (mixed >> 31)) & ((1 << TABLE_BITS) - 1)]
