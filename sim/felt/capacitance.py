"""What a pad of the felt is in farads, so that ICs which measure farads see the same felt.

The felt speaks in MPR121 counts at 16 uA and 0.5 us. Such an IC charges the pad with 8 pC and
converts the voltage reached against 3.3 V into 1024 steps, so counts = 8 pC / (C * 3.3 V) * 1024,
and the mapping back has no free parameter. A pad that reads 700 has 3.55 pF, and the IC that
lowers it by 60 adds 0.33 pF.
"""

from __future__ import annotations

CHARGE_FEMTOCOULOMBS = 8_000
SUPPLY_VOLTS = 3.3
STEPS = 1024
FEMTOFARAD_COUNTS = CHARGE_FEMTOCOULOMBS / SUPPLY_VOLTS * STEPS
# The driver's raw measures fall from here by one for each 2048th of a picofarad.
FDC1004_FULL_SCALE = 1 << 18
FDC1004_UNITS_PER_FF = 2048 / 1000
# What a pad that lies on ground looks like: more than any converter can measure.
SHORT_CIRCUIT_FEMTOFARADS = 1_000_000.0


def femtofarads(counts: float) -> float:
    """The capacitance of a pad that an MPR121 measures as `counts`."""
    if counts <= 0:
        return SHORT_CIRCUIT_FEMTOFARADS
    return min(SHORT_CIRCUIT_FEMTOFARADS, FEMTOFARAD_COUNTS / counts)


def fdc1004_femtofarads(raw: int) -> float:
    """The capacitance of a pad that the shipped FDC1004 driver measures as `raw`."""
    return (FDC1004_FULL_SCALE - raw + 0.5) / FDC1004_UNITS_PER_FF
