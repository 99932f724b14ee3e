"""How long a pad's lead may be, by arithmetic: what a chip is worth beside the lead's capacitance.

The conversion is the one that the felt's model uses (`sim.felt.capacitance`): an IC charges the pad
with a known charge and measures the voltage that it reaches.
"""

from __future__ import annotations

from typing import NamedTuple

from sim.felt.capacitance import STEPS, SUPPLY_VOLTS
from sim.felt.physics.ranges import RANGES

# The driver charges for 0.5 us; a board file may raise the current up to 63 uA.
CHARGE_US = 0.5
CURRENT_UA_MAX = 63
READING_WANTED = 700
LEAD_PF = (0.0, 3.0, 10.0, 30.0, 100.0)
# Free space, in pF per metre.
EPSILON_PF_PER_M = 8.854
FOAM_PERMITTIVITY = 1.1


class Lead(NamedTuple):
    lead_pf: float
    current_ua: int
    reading: float
    chip_counts: float


def middle(name: str) -> float:
    low, high = RANGES[name]
    return (low + high) / 2


def leads() -> list[Lead]:
    """For an MPR121: the current that reads 700, or the most there is, and a clay chip's counts."""
    return [_lead(lead_pf) for lead_pf in LEAD_PF]


def _lead(lead_pf: float) -> Lead:
    pad_pf = middle("pad stray, fF") / 1000 + lead_pf
    wanted_ua = READING_WANTED * SUPPLY_VOLTS * pad_pf / (STEPS * CHARGE_US)
    current_ua = max(1, min(CURRENT_UA_MAX, round(wanted_ua)))
    chip_pf = middle("clay chip, fF") / 1000
    empty, covered = _counts(current_ua, pad_pf), _counts(current_ua, pad_pf + chip_pf)
    return Lead(lead_pf, current_ua, empty, empty - covered)


def _counts(current_ua: int, picofarads: float) -> float:
    return min(STEPS - 1, current_ua * CHARGE_US / (picofarads * SUPPLY_VOLTS) * STEPS)


def plane_distance_mm(pad_mm: float) -> float:
    """How far below a pad a plane gives the assumed stray, without what leaves at the edges."""
    area_m2 = 3.14159 * (pad_mm / 2000) ** 2
    stray_pf = middle("pad stray, fF") / 1000
    return EPSILON_PF_PER_M * FOAM_PERMITTIVITY * area_m2 / stray_pf * 1000
