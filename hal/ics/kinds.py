"""The ICs a board may name, and the limits their makers set.

Plain facts for the configuration's checks; the drivers in `hal/ics` know the registers.
"""

from __future__ import annotations

MPR121 = "mpr121"
FDC1004 = "fdc1004"
PCA9685 = "pca9685"
TCA9555 = "tca9555"
TCA9548A = "tca9548a"
PCF8574 = "pcf8574"
PCA8574 = "pca8574"  # the same for a driver, and fast enough for a bus with sensing ICs
KINDS = (MPR121, FDC1004, PCA9685, TCA9555, TCA9548A, PCF8574, PCA8574)
TEXT_KINDS = (PCF8574, PCA8574)
SENSING_KINDS = (MPR121, FDC1004)
# What may sit behind a multiplexer. The others need none: they have addresses enough.
MUXED_KINDS = SENSING_KINDS

ADDRESSES = {
    MPR121: (0x5A, 0x5D),
    FDC1004: (0x50, 0x50),
    PCA9685: (0x40, 0x77),
    TCA9555: (0x20, 0x27),
    TCA9548A: (0x70, 0x77),
    PCF8574: (0x20, 0x27),
    PCA8574: (0x20, 0x27),
}
FREQUENCY_HZ_MAX = {
    MPR121: 400_000,
    FDC1004: 400_000,
    PCA9685: 1_000_000,
    TCA9555: 400_000,
    TCA9548A: 400_000,
    PCF8574: 100_000,
    PCA8574: 400_000,
}

# Every PCA9685 also answers here from power-up until told otherwise.
ALL_CALL_ADDRESS = 0x70

ELECTRODE_COUNT_MAX = {MPR121: 12, FDC1004: 4}
ELECTRODE_MAX = max(ELECTRODE_COUNT_MAX.values()) - 1
CAPDAC_MAX = 31
LAMP_CHANNEL_MAX = 15
KEY_PIN_MAX = 15
MUX_CHANNEL_MAX = 7

# (touch, release, largest) in the units of each IC's raw measure: MPR121 counts, and for the
# FDC1004 2048ths of a picofarad, where 120 are what 12 counts are on a pad of 3.5 pF.
TOUCH_THRESHOLDS = {MPR121: (12, 6, 255), FDC1004: (120, 60, 20_000)}
