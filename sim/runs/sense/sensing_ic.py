"""The sensing ICs a trial may run on, as far as the short way has to know them.

Each turns a pad's capacitance into its raw measure and has its own pace, filter and touch bit. The
long way needs none of this: there the register models and the shipped drivers speak. A test holds
the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hal.ics.fdc1004_electrode import CODE_MAX, FULL_SCALE, OPEN_UNITS_MAX
from hal.ics.kinds import FDC1004, MPR121, TOUCH_THRESHOLDS
from sim.felt.capacitance import FDC1004_UNITS_PER_FF, FEMTOFARAD_COUNTS
from sim.felt.physics.pad import COUNTS_MAX, SAMPLE_NS, counts_of


def _units_raw(femtofarads: float) -> int:
    """A measure that the driver would call out of range lies at the end of the scale."""
    units = int(femtofarads * FDC1004_UNITS_PER_FF)
    if units < OPEN_UNITS_MAX:
        return FULL_SCALE
    return FULL_SCALE - units if units < CODE_MAX else 0


@dataclass(frozen=True)
class SensingIc:
    """`exact` is `raw` without its steps; `flips_after` samples the touch bit follows the level."""

    name: str
    raw: Callable[[float], int]
    exact: Callable[[float], float]
    raw_max: int
    baseline_step: int
    flips_after: int
    # The sample that shows a level ends so much after it.
    filter_ns: int
    snapshot_ms: int  # From the touch bits to the readings.
    read_cost_ms: int  # A look takes this long before the next wait begins.

    @property
    def touch(self) -> int:
        return TOUCH_THRESHOLDS[self.name][0]

    @property
    def release(self) -> int:
        return TOUCH_THRESHOLDS[self.name][1]


ICS = {
    MPR121: SensingIc(
        MPR121,
        raw=counts_of,
        exact=lambda femtofarads: FEMTOFARAD_COUNTS / femtofarads - 0.5,
        raw_max=COUNTS_MAX,
        baseline_step=4,
        flips_after=2,
        filter_ns=SAMPLE_NS,
        snapshot_ms=2,
        read_cost_ms=1,
    ),
    FDC1004: SensingIc(
        FDC1004,
        raw=_units_raw,
        exact=lambda femtofarads: FULL_SCALE - femtofarads * FDC1004_UNITS_PER_FF + 0.5,
        raw_max=FULL_SCALE,
        baseline_step=1,
        flips_after=1,
        filter_ns=2 * SAMPLE_NS,
        snapshot_ms=12,
        read_cost_ms=2,
    ),
}
