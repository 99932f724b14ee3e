"""What the board files do not say: typical parts, currents, colours, and where a pin is.

Part numbers and currents are from makers' data sheets as remembered, and nothing of them was bought
or measured; the page says so. A figure that somebody measured takes its place here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hal.ics.kinds import (
    ADDRESSES,
    FDC1004,
    MPR121,
    PCA8574,
    PCA9685,
    PCF8574,
    TCA9548A,
    TCA9555,
)


class Part(NamedTuple):
    name: str
    typical: str
    supply_ma: float  # at most, of the 3.3 V that a supply switch would cut


IC_PARTS: Final = {
    MPR121: Part("capacitive sensing IC, 12 electrodes", "NXP MPR121QR2, or a breakout", 1.0),
    FDC1004: Part("capacitance converter, 4 channels", "TI FDC1004DGST, or a breakout", 1.0),
    PCA9685: Part("lamp driver, 16 channels", "NXP PCA9685PW, or a breakout", 10.0),
    TCA9555: Part("port expander, 16 lines", "TI TCA9555PWR, or a breakout", 1.0),
    TCA9548A: Part("I2C multiplexer, 8 channels", "TI TCA9548APWR, or a breakout", 1.0),
    PCF8574: Part("backpack of the text display", "NXP PCF8574T on the backpack", 1.0),
    PCA8574: Part("backpack of the text display", "NXP PCA8574D on the backpack", 1.0),
}
ALSO_TIED: Final = {PCA9685: ("OE, EXTCLK to ground",), TCA9548A: ("RESET to VDD",)}
LAMP_MA: Final = 10.0  # one colour at full, behind its own resistor
# The lamp driver's outputs are set up for one: high is on. A lamp between 5 V and the output
# itself would be lit when it should be dark.
LAMP_SWITCH: Final = ("lamp switch, 8 channels, each to ground", "TI ULN2803A")
LAMP_SWITCH_CHANNELS: Final = 8
LAMP_SWITCH_INPUT_MA: Final = 1.0  # of the 3.3 V, for each channel that is on
SUPPLY_SWITCH: Final = ("high-side supply switch, on while its pin is let go", "TI TPS22918")
LEVEL_SHIFTER: Final = ("level shifter between bus and display", "TI PCA9306, or a breakout")
# What every unit needs beside its board file's ICs: number, part, typical part.
COMPUTER: Final = ((1, "computer with 40-pin header", "Raspberry Pi 4 Model B, 2 GB"),)
COMPUTER_SUPPLY_W: Final = 15.0
SUPPLY: Final = "5.1 V 3 A supply with USB-C (Raspberry Pi 15 W)"
DISPLAY_BACKLIGHT_MA: Final = 120.0

# The backpack's pins that the driver assumes (`hal/ics/pcf8574.py`), and the display's.
BACKPACK_PINS: Final = ("P0, P1, P2, P4 to P7", "RS, R/W, E, D4 to D7")

HEADER_PIN: Final = {
    2: 3, 3: 5, 4: 7, 14: 8, 15: 10, 17: 11, 18: 12, 27: 13, 22: 15, 23: 16, 24: 18, 10: 19, 9: 21,
    25: 22, 11: 23, 8: 24, 7: 26, 0: 27, 1: 28, 5: 29, 6: 31, 12: 32, 13: 33, 19: 35, 16: 36,
    26: 37, 20: 38, 21: 40,
}  # fmt: skip
POWER_3V3_PIN, POWER_5V_PIN, GROUND_PIN = 1, 2, 6

# One colour for one use, so that a wire tells what it is under the table.
RED, BLACK, BLUE, YELLOW, GREEN = "red", "black", "blue", "yellow", "green"
VIOLET, GREY, WHITE, ORANGE, BROWN = "violet", "grey", "white", "orange", "brown"


def electrode_pin(kind: str, electrode: int) -> str:
    """Electrodes count from 0 in the board's file; an FDC1004's maker counts from 1."""
    return f"CIN{electrode + 1}" if kind == FDC1004 else f"ELE{electrode}"


def tied_pins(kind: str, address: int) -> str:
    """What is wired to a fixed level, so that an IC works and answers at its address."""
    if kind == FDC1004:
        return "none: its address is fixed"
    if kind == MPR121:
        return f"ADDR to {('ground', 'VDD', 'SDA', 'SCL')[address - ADDRESSES[kind][0]]}"
    count = 6 if kind == PCA9685 else 3
    bits = address - ADDRESSES[kind][0]
    high = [f"A{bit}" for bit in range(count) if bits >> bit & 1]
    low = [f"A{bit}" for bit in range(count) if not bits >> bit & 1]
    ends = ((high, "VDD"), (low, "ground"))
    tied = [f"{', '.join(pins)} to {end}" for pins, end in ends if pins]
    return "; ".join([*tied, *ALSO_TIED.get(kind, ())])
