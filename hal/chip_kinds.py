"""The chips a board may name, and the limits their makers set.

Plain facts for the configuration's checks; the drivers in `hal/chips` know the registers.
"""

from __future__ import annotations

MPR121 = "mpr121"
PCA9685 = "pca9685"
TCA9555 = "tca9555"
KINDS = (MPR121, PCA9685, TCA9555)

ADDRESSES = {MPR121: (0x5A, 0x5D), PCA9685: (0x40, 0x77), TCA9555: (0x20, 0x27)}
FREQUENCY_HZ_MAX = {MPR121: 400_000, PCA9685: 1_000_000, TCA9555: 400_000}

# Every PCA9685 also answers here from power-up until told otherwise.
ALL_CALL_ADDRESS = 0x70

ELECTRODE_MAX = 11
LAMP_CHANNEL_MAX = 15
KEY_PIN_MAX = 15
