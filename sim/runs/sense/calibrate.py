"""What a tech's calibration of a drawn table would have stored, spot by spot.

Empty reference and noise come from a few hundred samples of the empty pad, the chip's delta from
one of the house's chips laid on the spot. The figures are computed with the error such a
measurement has instead of being sampled, which is what makes a trial cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.core.felt import tuning
from controller.core.felt.calibration import Calibration
from sim.felt.physics.pad import PhysicalPad
from sim.felt.physics.table import PhysicalTable
from sim.runs.sense.sensing_ic import SensingIc

QUANTISING_RMS = 0.29


@dataclass(frozen=True)
class Stored:
    """One spot's line in the store."""

    reference: int
    calibration: Calibration

    @property
    def is_usable(self) -> bool:
        """Whether the tech's procedure would release this spot for play."""
        return self.calibration.chip_delta / self.calibration.noise >= tuning.USABLE_MARGIN_NOISES


def calibrate(table: PhysicalTable, pad: PhysicalPad, ic: SensingIc) -> Stored:
    """On an empty, dry felt, with one chip of the house in the middle of the spot."""
    empty = ic.exact(pad.stray_ff)
    chip_delta = empty - ic.exact(pad.stray_ff + pad.sensitivity * table.one_chip_ff())
    counts_per_ff = empty - ic.exact(pad.stray_ff + 1)
    noise = ((pad.noise_rms_ff() * counts_per_ff) ** 2 + QUANTISING_RMS**2) ** 0.5
    noise *= table.draw.of("noise figure found by calibration")
    return Stored(round(empty), Calibration(round(chip_delta), noise, ic.raw_max))
