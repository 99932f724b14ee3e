"""The felt above the electrodes: what each pad measures, in MPR121 counts.

A felt is plain or physical. On a plain one a pad's level is the sum of its terms (the empty pad, a
chip) and stands still unless it is wet, which is what most tests need. On a physical one a pad is a
function of time from `sim.felt.physics`, with noise, hands, liquid and drift. All figures come from
one seed, so a felt is repeatable. It knows pads, not which IC or electrode measures them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sim.felt.capacitance import femtofarads
from sim.felt.physics.pad import counts_of
from sim.felt.physics.table import PhysicalTable
from sim.felt.physics.things import Thing
from sim.hardware.ics.base import Level, Source

COUNTS_MAX = 1023
OPEN_CIRCUIT_COUNTS = 1_000_000  # No capacitance to charge: full scale at any current.
SHORT_CIRCUIT_COUNTS = 0
SECOND_NS = 1_000_000_000

EMPTY_COUNTS = 700
EMPTY_SPREAD_COUNTS = 24
CHIP_COUNTS = 60
CHIP_SPREAD_COUNTS = 6
LIQUID_STEP_NS = 20_000_000  # the fastest front needs twice as long to cross a pad


@dataclass
class Pad:
    """One sensing pad: its own constants, and what is on it now."""

    id: str
    empty_counts: int
    chip_delta_counts: int
    chip: bool = False
    broken_counts: int | None = None
    wet: list[Thing] = field(default_factory=list)


Term = Callable[[Pad], int]


def empty_term(pad: Pad) -> int:
    return pad.empty_counts


def chip_term(pad: Pad) -> int:
    """A chip adds capacitance, and more capacitance reads lower."""
    return -pad.chip_delta_counts if pad.chip else 0


class WetPad(Source):
    """A plain pad with liquid on it: its level, moved by what the liquid adds, in small steps."""

    def __init__(self, dry_counts: int, liquid: list[Thing]) -> None:
        self._dry_ff = femtofarads(dry_counts)
        self._liquid = liquid

    def femtofarads(self, at_ns: int) -> float:
        at_s = at_ns // LIQUID_STEP_NS * LIQUID_STEP_NS / SECOND_NS
        return self._dry_ff + sum(each.added_ff(at_s) for each in self._liquid)

    def counts(self, at_ns: int) -> int:
        return counts_of(self.femtofarads(at_ns))

    def calm(self, at_ns: int) -> tuple[int, int, int]:
        counts = self.counts(at_ns)
        return (at_ns // LIQUID_STEP_NS + 1) * LIQUID_STEP_NS, counts, counts


class Felt:
    """All pads of one table."""

    def __init__(self, pad_ids: Iterable[str], seed: int) -> None:
        self.seed = seed
        self.terms: list[Term] = [empty_term, chip_term]
        draw = random.Random(seed)
        self._spills = random.Random(f"spills {seed}")
        self._pads = {pad_id: _new_pad(pad_id, draw) for pad_id in pad_ids}
        self.physics: PhysicalTable | None = None

    def become_physical(self, physics: PhysicalTable) -> None:
        """From now on the pads are those of a table that was drawn elsewhere."""
        if physics.pads.keys() != self._pads.keys():
            raise ValueError("The drawn table has other pads than this felt.")
        self.physics = physics

    def place(self, pad_id: str, at_ns: int) -> None:
        """One chip of the house falls on the pad."""
        self.pad(pad_id).chip = True
        if self.physics is not None:
            self.physics.drop(pad_id, at_ns / SECOND_NS, self.physics.one_chip_ff())

    def remove(self, pad_id: str, at_ns: int) -> None:
        """Whatever lies on the pad is lifted."""
        self.pad(pad_id).chip = False
        if self.physics is not None:
            self.physics.lift(pad_id, at_ns / SECOND_NS)

    def spill(self, pad_ids: Sequence[str], at_ns: int) -> None:
        """Liquid runs over these neighbours in order."""
        if self.physics is not None:
            self.physics.spill(pad_ids, at_ns / SECOND_NS)
            return
        drawn = PhysicalTable(pad_ids, self._spills.getrandbits(32))
        drawn.spill(pad_ids, at_ns / SECOND_NS)
        for pad_id in pad_ids:
            self.pad(pad_id).wet += drawn.pads[pad_id].things

    def wipe(self, pad_ids: Sequence[str], at_ns: int) -> None:
        """A cloth goes over these pads. A plain felt is dry after it, a physical one drier."""
        if self.physics is not None:
            self.physics.wipe(pad_ids, at_ns / SECOND_NS)
            return
        for pad_id in pad_ids:
            self.pad(pad_id).wet.clear()

    def level(self, pad_id: str) -> Level:
        """What the pad's electrode is given: counts that stand, or what says them at any time."""
        pad = self.pad(pad_id)
        if self.physics is None and pad.wet and pad.broken_counts is None:
            return WetPad(self.counts(pad_id), list(pad.wet))
        if self.physics is None or pad.broken_counts is not None:
            return self.counts(pad_id)
        return self.physics.pads[pad_id]

    def pad(self, pad_id: str) -> Pad:
        if pad_id not in self._pads:
            known = ", ".join(self._pads)
            raise ValueError(f"There is no sensor {pad_id} on this felt; there are {known}.")
        return self._pads[pad_id]

    def counts(self, pad_id: str) -> int:
        """What the pad of a plain felt measures at the IC's reset current, shortest charge."""
        pad = self.pad(pad_id)
        if pad.broken_counts is not None:
            return pad.broken_counts
        return min(COUNTS_MAX, max(0, sum(term(pad) for term in self.terms)))

    def describe(self) -> str:
        """The seed and everything drawn from it, for the head of a report."""
        if self.physics is not None:
            return f"physical felt seed {self.physics.seed}: {self.physics.describe()}"
        drawn = ", ".join(
            f"{pad.id} {pad.empty_counts}-{pad.chip_delta_counts}" for pad in self._pads.values()
        )
        return f"felt seed {self.seed}: {drawn}"


def _new_pad(pad_id: str, draw: random.Random) -> Pad:
    empty = EMPTY_COUNTS + draw.randint(-EMPTY_SPREAD_COUNTS, EMPTY_SPREAD_COUNTS)
    delta = CHIP_COUNTS + draw.randint(-CHIP_SPREAD_COUNTS, CHIP_SPREAD_COUNTS)
    return Pad(pad_id, empty, delta)
