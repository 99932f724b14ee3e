"""The character display on its PCF8574 backpack: four rows of twenty, written in nibbles.

It alone knows the backpack's wiring (P7-P4 data, P3 backlight, P2 E, P1 R/W, P0 RS), the HD44780's
instructions and its waits. A byte on the bus takes longer than a strobe must be, so a run of
characters is one transfer and nothing sleeps inside it. What the rows say is not its business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from smbus2 import i2c_msg

from hal.aio import sleep_ms
from hal.bus.i2c import Bus, SMBusLike, message_bytes
from hal.errors import IcFault

ROWS, COLUMNS = 4, 20
ROW_STARTS = (0x00, 0x40, 0x14, 0x54)

RS, READ, ENABLE, BACKLIGHT = 0x01, 0x02, 0x04, 0x08
IDLE = BACKLIGHT  # what the pins are left at; after a power-up all eight are high
CLEAR, ENTRY_RIGHT, DISPLAY_OFF, DISPLAY_ON, TWO_LINES, PLACE = 0x01, 0x06, 0x08, 0x0C, 0x28, 0x80

BUSY = 0x80
# Behind the last place of a line in memory comes the first of the other one.
LINE_ENDS = {0x28: 0x40, 0x68: 0x00}

POWER_ON_MS = 50
FIRST_WAKE_MS = 5
WAKE_MS = 1
CLEAR_MS = 3
# With the address in front that is 56 bytes: USB bridges take 61, and a sensing IC on the same bus
# waits for little more than a millisecond.
RUN_CHARACTERS_MAX = 7

Port = bytes


class TextLcd:
    """One display at one address. Text is ASCII; anything else is refused, not guessed."""

    def __init__(self, bus: Bus, address: int) -> None:
        self._bus = bus
        self._address = address
        self.label = f"text display 0x{address:02X} on bus {bus.name}"
        self._cursor = 0  # where the display itself must stand after what was written

    async def start(self) -> None:
        """Sets it up from any state, also from between two nibbles, and clears it."""
        # After a power-up all pins are high, E too: letting it fall is a strobe of its own.
        await self._send(bytes([IDLE]))
        await sleep_ms(POWER_ON_MS)
        for nibble, wait_ms in ((3, FIRST_WAKE_MS), (3, WAKE_MS), (3, WAKE_MS), (2, WAKE_MS)):
            await self._send(_nibble(nibble << 4) + bytes([IDLE]))
            await sleep_ms(wait_ms)
        await self._send(_instructions(TWO_LINES, DISPLAY_OFF, CLEAR))
        await sleep_ms(CLEAR_MS)
        await self._send(_instructions(ENTRY_RIGHT, DISPLAY_ON))
        self._cursor = 0

    async def write(self, row: int, column: int, text: str) -> None:
        """Writes from this place on; the rest of the row stays."""
        if not 0 <= row < ROWS or not 0 <= column <= COLUMNS - len(text):
            raise ValueError(f"{text!r} at {row}, {column} is not on the glass.")
        codes = text.encode("ascii")
        for done in range(0, len(codes), RUN_CHARACTERS_MAX):
            place = PLACE | ROW_STARTS[row] + column + done
            run = codes[done : done + RUN_CHARACTERS_MAX]
            data = _instructions(place) + b"".join(_byte(code, RS) for code in run)
            await self._send(data, is_set_up=True)
            behind = ROW_STARTS[row] + column + done + len(run)
            self._cursor = LINE_ENDS.get(behind, behind)

    async def check(self) -> None:
        """Raises when backpack or display are not as they were left, as after a replug."""
        cursor = await self._bus.run(self._look)
        if cursor != self._cursor:
            raise IcFault(
                f"{self.label} lost its set-up: it stands at place 0x{cursor:02X} "
                f"instead of 0x{self._cursor:02X}."
            )

    def _look(self, smbus: SMBusLike) -> int:
        """The display's address counter, read nibble by nibble."""
        self._require_idle(smbus)
        halves = []
        for _ in range(2):
            asking = 0xF0 | READ | IDLE
            smbus.i2c_rdwr(i2c_msg.write(self._address, bytes([asking, asking | ENABLE])))
            halves.append(self._read_pins(smbus) >> 4)
            smbus.i2c_rdwr(i2c_msg.write(self._address, bytes([asking])))
        smbus.i2c_rdwr(i2c_msg.write(self._address, bytes([IDLE])))
        return (halves[0] << 4 | halves[1]) & ~BUSY

    def _require_idle(self, smbus: SMBusLike) -> None:
        """Pins other than they were left: the backpack lost its supply, and the display with it."""
        pins = self._read_pins(smbus)
        if pins != IDLE:
            raise IcFault(f"{self.label} lost its set-up: its pins read 0x{pins:02X}.")

    def _read_pins(self, smbus: SMBusLike) -> int:
        answer = i2c_msg.read(self._address, 1)
        smbus.i2c_rdwr(answer)
        return message_bytes(answer)[0]

    async def _send(self, data: Port, is_set_up: bool = False) -> None:
        await self._bus.run(self._once(data, is_set_up))

    def _once(self, data: Port, is_set_up: bool) -> Callable[[SMBusLike], None]:
        """A run that broke off may have left half a character there: it is never repeated as it is.

        The second attempt only asks whether anybody is there, so that a broken bus stays one.
        """
        attempts: list[None] = []

        def job(smbus: SMBusLike) -> None:
            attempts.append(None)
            if len(attempts) > 1:
                self._read_pins(smbus)
                raise IcFault(f"{self.label} was interrupted while it was written.")
            if is_set_up:
                self._require_idle(smbus)
            smbus.i2c_rdwr(i2c_msg.write(self._address, data))

        return job


def _instructions(*values: int) -> Port:
    return b"".join(_byte(value, 0) for value in values)


@cache  # of an alphabet, and a few instructions
def _byte(value: int, select: int) -> Port:
    """Both nibbles, and one byte more: the display is still busy for up to 58 µs."""
    pause = bytes([IDLE])
    return _nibble(value & 0xF0, select) + _nibble(value << 4 & 0xF0, select) + pause


def _nibble(high_bits: int, select: int = 0) -> Port:
    """RS stands before E rises, and data until after it has fallen; then all is idle again."""
    pins = high_bits | BACKLIGHT | select
    return bytes([pins, pins | ENABLE, pins])


def fits_glass(rows: Iterable[str]) -> bool:
    lines = list(rows)
    return len(lines) == ROWS and all(len(line) == COLUMNS and line.isascii() for line in lines)
