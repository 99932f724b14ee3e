"""What the table needs from a sensing IC, whichever IC it is.

A reading carries the raw measure and the stored empty-felt reference; whether a chip lies there is
decided above, from these two. The IC's own touch bit only wakes the host. A fault is not a value:
nothing here ever answers "empty" because a read failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hal.errors import SensorFault

if TYPE_CHECKING:
    from hal.devices.lines import InputLine


class ElectrodeReading(NamedTuple):
    """One electrode at one moment; `raw` and `touched` mean nothing while `fault` is set.

    `raw` is in the IC's own units (see its driver) and always falls when something comes near,
    also for an IC that measures more capacitance as a larger number.
    """

    raw: int
    reference: int
    touched: bool
    fault: str | None = None

    @property
    def delta(self) -> int:
        """How far the measure lies below the empty felt: a chip on the spot makes it grow."""
        if self.fault is not None:
            raise SensorFault(self.fault)
        return self.reference - self.raw


@dataclass(frozen=True, slots=True)
class ElectrodeMeasure:
    """One electrode without a reference; `raw` means nothing while `fault` is set."""

    raw: int
    fault: str | None = None


def median_measure(samples: Sequence[ElectrodeMeasure]) -> ElectrodeMeasure:
    """One fault is enough: a pad that comes and goes cannot be calibrated."""
    for sample in samples:
        if sample.fault is not None:
            return sample
    return sorted(samples, key=lambda sample: sample.raw)[len(samples) // 2]


class CapacitiveSensor(Protocol):
    """One sensing IC with `electrode_count` electrodes, numbered from 0.

    `label` names kind, address and bus, for people who look for the IC.

    Raw measures lie between 0 and `counts_full_scale`. In the same units, a usual chip on a usual
    pad makes `chip_counts_typical`, and `noise_counts_typical` is the rms noise of a quiet pad
    under felt: with them, what is judged from raw data can be relative, also before a spot was
    calibrated. A sensing IC without an interrupt line is read every `poll_ms`.
    """

    label: str
    electrode_count: int
    interrupt: InputLine | None
    counts_full_scale: int
    chip_counts_typical: int
    noise_counts_typical: int
    poll_ms: int | None

    async def start(self, references: Sequence[int]) -> None:
        """Runs with stored empty-felt references; never learns what lies on the felt now."""

    async def measure_each(self) -> list[ElectrodeMeasure]:
        """What each electrode measures, for calibration; needs no references."""

    async def measure(self) -> list[int]:
        """The raw measure of each electrode; raises SensorFault when one of them has none."""
        measures = await self.measure_each()
        for electrode, each in enumerate(measures):
            if each.fault is not None:
                raise SensorFault(f"{self.label}: electrode {electrode} is {each.fault}.")
        return [each.raw for each in measures]

    async def read_touched(self) -> int:
        """The touch bits, electrode 0 lowest: the fast wake-up, cheap and without detail.

        A clear bit alone does not prove an empty spot; `snapshot` does.
        """

    async def snapshot(self) -> list[ElectrodeReading]:
        """Everything the IC knows about each electrode, with faults."""

    async def recover(self) -> None:
        """Brings the IC back after a fault, with the references it had."""
