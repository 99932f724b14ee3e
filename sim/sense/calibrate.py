"""What a tech's calibration of a drawn table would have stored, spot by spot.

Empty reference and noise come from a few hundred samples of the empty pad, the chip's delta from
one of the house's chips laid on the spot. The figures are computed with the error such a
measurement has instead of being sampled, which is what makes a trial cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.core.scale import Calibration
from sim.capacitance import FEMTOFARAD_COUNTS
from sim.physics.pad import PhysicalPad
from sim.physics.table import PhysicalTable

QUANTISING_RMS = 0.29
# A spot whose chip does not stand out this far from its noise is not released for play.
MARGIN_MIN = 60.0


@dataclass(frozen=True)
class Stored:
    """One spot's line in the store."""

    reference: int
    calibration: Calibration

    @property
    def margin(self) -> float:
        return self.calibration.chip_delta / self.calibration.noise


def calibrate(table: PhysicalTable, pad: PhysicalPad) -> Stored:
    """On an empty, dry felt, with one chip of the house in the middle of the spot."""
    empty_counts = FEMTOFARAD_COUNTS / pad.stray_ff - 0.5
    chip_ff = pad.stray_ff + pad.sensitivity * table.one_chip_ff()
    chip_delta = empty_counts - (FEMTOFARAD_COUNTS / chip_ff - 0.5)
    counts_per_ff = FEMTOFARAD_COUNTS / pad.stray_ff**2
    noise = ((pad.noise_rms_ff() * counts_per_ff) ** 2 + QUANTISING_RMS**2) ** 0.5
    noise *= table.draw.of("noise figure found by calibration")
    return Stored(round(empty_counts), Calibration(round(chip_delta), noise))
