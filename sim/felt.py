"""The felt above the electrodes: what each pad measures, in MPR121 counts.

A pad's level is the sum of its terms (the empty pad, a chip); hand, liquid, drift and noise can
join as further terms without touching the chips. All figures come from one seed, so a felt is
repeatable. It knows pads, not which chip or electrode measures them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

COUNTS_MAX = 1023
OPEN_CIRCUIT_COUNTS = 1_000_000  # No capacitance to charge: full scale at any current.
SHORT_CIRCUIT_COUNTS = 0

EMPTY_COUNTS = 700
EMPTY_SPREAD_COUNTS = 24
CHIP_COUNTS = 60
CHIP_SPREAD_COUNTS = 6


@dataclass
class Pad:
    """One sensing pad: its own constants, and what is on it now."""

    id: str
    empty_counts: int
    chip_delta_counts: int
    chip: bool = False
    broken_counts: int | None = None


Term = Callable[[Pad], int]


def empty_term(pad: Pad) -> int:
    return pad.empty_counts


def chip_term(pad: Pad) -> int:
    """A chip adds capacitance, and more capacitance reads lower."""
    return -pad.chip_delta_counts if pad.chip else 0


class Felt:
    """All pads of one table."""

    def __init__(self, pad_ids: Iterable[str], seed: int) -> None:
        self.seed = seed
        self.terms: list[Term] = [empty_term, chip_term]
        draw = random.Random(seed)
        self._pads = {pad_id: _new_pad(pad_id, draw) for pad_id in pad_ids}

    def pad(self, pad_id: str) -> Pad:
        if pad_id not in self._pads:
            known = ", ".join(self._pads)
            raise ValueError(f"There is no sensor {pad_id} on this felt; there are {known}.")
        return self._pads[pad_id]

    def counts(self, pad_id: str) -> int:
        """What the pad measures now at the chip's reset current and the shortest charge."""
        pad = self.pad(pad_id)
        if pad.broken_counts is not None:
            return pad.broken_counts
        return min(COUNTS_MAX, max(0, sum(term(pad) for term in self.terms)))

    def describe(self) -> str:
        """The seed and everything drawn from it, for the head of a report."""
        drawn = ", ".join(
            f"{pad.id} {pad.empty_counts}-{pad.chip_delta_counts}" for pad in self._pads.values()
        )
        return f"felt seed {self.seed}: {drawn}"


def _new_pad(pad_id: str, draw: random.Random) -> Pad:
    empty = EMPTY_COUNTS + draw.randint(-EMPTY_SPREAD_COUNTS, EMPTY_SPREAD_COUNTS)
    delta = CHIP_COUNTS + draw.randint(-CHIP_SPREAD_COUNTS, CHIP_SPREAD_COUNTS)
    return Pad(pad_id, empty, delta)
