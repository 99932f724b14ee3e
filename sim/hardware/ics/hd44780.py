"""HD44780 character display controller with 20×4 glass, as its eleven pins see it.

It knows the nibbles, the enable strobe, the address counter, the instructions and how long each
keeps it busy; what comes while it is busy is lost, as on the real part. Times are the data sheet's
at its slowest oscillator (190 instead of 270 kHz). Who moves the pins is not known here.
"""

from __future__ import annotations

MICROSECOND_NS = 1_000
COLUMNS = 20
# Two lines of 40 characters in memory; the glass shows each as two rows.
ROW_STARTS = (0x00, 0x40, 0x14, 0x54)
LINE_STARTS = (0x00, 0x40)
LINE_LENGTH = 40
# One ring of eighty places: behind the end of a line comes the other line.
RING = [start + n for start in LINE_STARTS for n in range(LINE_LENGTH)]
PLACE_IN_RING = {address: place for place, address in enumerate(RING)}

POWER_ON_NS = 15_000 * MICROSECOND_NS
SLOW_NS = 2_160 * MICROSECOND_NS  # clear and home: 1.52 ms at 270 kHz
INSTRUCTION_NS = 53 * MICROSECOND_NS  # 37 µs at 270 kHz
DATA_NS = 58 * MICROSECOND_NS  # and 4 µs more until the address counter has moved on

BLANK = 0x20
UNCONNECTED = 0x0F  # DB3 to DB0 are pulled up inside and lead nowhere on a four-wire board


class Hd44780:
    """The controller behind four data wires: DB7 to DB4."""

    def __init__(self) -> None:
        self.lost_count = 0  # strobes that came while it was busy
        self.power_on(0)

    def power_on(self, at_ns: int) -> None:
        """Its own reset: eight data wires, one line, display off, blank."""
        self.is_on = False
        self._is_four_bit = False
        self._has_two_lines = False
        self._high_nibble: int | None = None  # the half of a byte that has come
        self._read_half = False
        self._increments = True
        self._shifts_display = False
        self._shift = 0
        self._address = 0
        self._in_font = False  # the address counter points into the character generator
        self._ddram = bytearray([BLANK] * 0x80)
        self._font = bytearray(64)
        self._busy_until_ns = at_ns + POWER_ON_NS

    def rows(self) -> list[str]:
        """What an eye reads, four rows of twenty; blank while the display is off."""
        if not self.is_on:
            return [" " * COLUMNS] * len(ROW_STARTS)
        return [self._row(start) for start in ROW_STARTS]

    def strobe(self, is_data: bool, nibble: int, at_ns: int) -> None:
        """E fell with R/W low: takes DB7 to DB4 as they are."""
        if at_ns < self._busy_until_ns:
            self.lost_count += 1
            return
        if not self._is_four_bit:
            self._take(is_data, nibble << 4 | UNCONNECTED, at_ns)
        elif self._high_nibble is None:
            self._high_nibble = nibble
        else:
            value, self._high_nibble = self._high_nibble << 4 | nibble, None
            self._take(is_data, value, at_ns)

    def drives(self, is_data: bool, at_ns: int) -> int:
        """DB7 to DB4 while E is high with R/W high: the half of the byte that is due."""
        memory, place = self._memory()
        busy = 0x80 if at_ns < self._busy_until_ns else 0
        value = memory[place] if is_data else busy | self._address
        return value & 0x0F if self._read_half else value >> 4

    def read_strobe(self, is_data: bool, at_ns: int) -> None:
        """E fell with R/W high: the other half is due next, or the next byte."""
        if self._is_four_bit and not self._read_half:
            self._read_half = True
            return
        self._read_half = False
        if is_data:
            self._step()
            self._busy_until_ns = at_ns + DATA_NS

    def _row(self, start: int) -> str:
        line = max(each for each in LINE_STARTS if each <= start)
        first = start - line + self._shift
        codes = [self._ddram[line + (first + n) % LINE_LENGTH] for n in range(COLUMNS)]
        if start >= 0x40 and not self._has_two_lines:
            return " " * COLUMNS
        return "".join(
            chr(code) if 0x20 <= code < 0x7E else "\N{REPLACEMENT CHARACTER}" for code in codes
        )

    def _take(self, is_data: bool, value: int, at_ns: int) -> None:
        self._busy_until_ns = at_ns + (DATA_NS if is_data else INSTRUCTION_NS)
        if is_data:
            memory, place = self._memory()
            memory[place] = value
            self._step()
        else:
            self._obey(value, at_ns)

    def _memory(self) -> tuple[bytearray, int]:
        return (self._font, self._address & 0x3F) if self._in_font else (self._ddram, self._address)

    def _obey(self, value: int, at_ns: int) -> None:
        """The highest bit that is set says which instruction it is."""
        if value & 0x80:
            self._address, self._in_font = value & 0x7F, False
        elif value & 0x40:
            self._address, self._in_font = value & 0x3F, True
        elif value & 0x20:
            self._is_four_bit = not value & 0x10
            self._has_two_lines = bool(value & 0x08)
            self._high_nibble = None
        elif value & 0x10:
            self._move(is_display=bool(value & 0x08), is_right=bool(value & 0x04))
        elif value & 0x08:
            self.is_on = bool(value & 0x04)
        elif value & 0x04:
            self._increments, self._shifts_display = bool(value & 0x02), bool(value & 0x01)
        elif value:
            self._home(is_clear=value == 0x01, at_ns=at_ns)

    def _home(self, is_clear: bool, at_ns: int) -> None:
        if is_clear:
            self._ddram[:] = bytes([BLANK] * len(self._ddram))
            self._increments = True
        self._address, self._in_font, self._shift = 0, False, 0
        self._busy_until_ns = at_ns + SLOW_NS

    def _move(self, is_display: bool, is_right: bool) -> None:
        if is_display:
            self._shift += -1 if is_right else 1
        else:
            self._go(1 if is_right else -1)

    def _step(self) -> None:
        self._go(1 if self._increments else -1)
        if self._shifts_display and not self._in_font:
            self._shift += 1 if self._increments else -1

    def _go(self, by: int) -> None:
        if self._in_font:
            self._address = (self._address + by) & 0x3F
            return
        self._address = RING[(PLACE_IN_RING.get(self._address, 0) + by) % len(RING)]
