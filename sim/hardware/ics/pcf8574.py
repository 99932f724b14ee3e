"""PCF8574 eight-pin expander with a character display soldered to it: the usual "backpack".

It knows the expander's one byte (no registers, pins that are weak when high) and how its pins are
wired to the display: P7 to P4 are DB7 to DB4, P3 the backlight, P2 E, P1 R/W, P0 RS. The faster
PCA8574 is the same to a driver. What the display makes of its pins is `hd44780`'s.
"""

from __future__ import annotations

from collections.abc import Callable

from sim.hardware.ics.base import Ic
from sim.hardware.ics.hd44780 import COLUMNS, ROW_STARTS, Hd44780

RS, READ, ENABLE, BACKLIGHT = 0x01, 0x02, 0x04, 0x08
ALL_HIGH = 0xFF


class TextBackpack(Ic):
    def __init__(self, address: int) -> None:
        super().__init__(address)
        self.glass = Hd44780()
        self._pins = ALL_HIGH
        self.on_pins: Callable[[int], object] | None = None  # hears every change of the pins

    def rows(self) -> list[str]:
        """What an eye reads: nothing without power or without light behind it."""
        if not self.powered or not self._pins & BACKLIGHT:
            return [" " * COLUMNS] * len(ROW_STARTS)
        return self.glass.rows()

    def write(self, data: bytes) -> bool:
        """Each byte is on the pins as soon as it is acknowledged, one after the other."""
        at_ns = self.now_ns - (len(data) - 1) * self.byte_ns
        for value in data:
            # A character is seven bytes, and two of them let E fall.
            if self._pins & ENABLE and not value & ENABLE:
                self._strobe(value, at_ns)
            self._pins = value
            if self.on_pins is not None:
                self.on_pins(value)
            at_ns += self.byte_ns
        return True

    def read(self, count: int) -> bytes:
        """The levels of the pins: a pin that is high can be pulled low from outside."""
        levels = self._pins
        if levels & ENABLE and levels & READ:
            driven = self.glass.drives(bool(levels & RS), self.now_ns) << 4 | 0x0F
            levels &= driven
        return bytes([levels] * count)

    def power_off(self) -> None:
        super().power_off()
        self._pins = ALL_HIGH

    def power_on(self) -> None:
        super().power_on()
        self._pins = ALL_HIGH
        self.glass.power_on(self.now_ns)

    def _strobe(self, value: int, at_ns: int) -> None:
        """E falls with this byte."""
        if self._pins & READ:
            self.glass.read_strobe(bool(self._pins & RS), at_ns)
        else:
            # Data and RS must still stand when E falls: those are what the byte itself says.
            self.glass.strobe(bool(value & RS), value >> 4, at_ns)
