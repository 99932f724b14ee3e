"""The PCA9685 sixteen-channel lamp IC: levels from 0 (dark) to 4095 (full).

It alone knows the registers: the sleep that the prescaler needs, the restart after it, and the
shared address 0x70 every such IC answers on until it is told not to. Which lamp hangs on which
channel is not its business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from hal.aio import sleep_ms
from hal.bus.i2c import I2cBus, SMBusLike, read_registers, write_registers
from hal.errors import IcFault
from hal.ics.kinds import ALL_CALL_ADDRESS, LAMP_CHANNEL_MAX
from hal.ics.registers import verify, write_verified

MODE1 = 0x00
MODE2 = 0x01
LED0 = 0x06
PRE_SCALE = 0xFE

RESTART = 0x80
AUTO_INCREMENT = 0x20
SLEEP = 0x10
# SUB1 to SUB3 and ALLCALL stay 0 in both: the IC then answers on its own address only.
ASLEEP = AUTO_INCREMENT | SLEEP
AWAKE = AUTO_INCREMENT
# Push-pull outputs that change together when the transfer ends.
OUTPUTS = 0x04
FASTEST_PRE_SCALE = 3

CHANNEL_COUNT = LAMP_CHANNEL_MAX + 1
LEVEL_MAX = 4095
FULL = 0x10
# Half a frame: USB bridges take 61 bytes in one write, and at the start nothing is in a hurry.
START_BYTES_MAX = 32
# The oscillator needs 500 us; a whole millisecond is the shortest sleep there is.
WAKE_WAIT_MS = 1


class Pca9685:
    """One lamp IC at one address."""

    def __init__(self, bus: I2cBus, address: int) -> None:
        if address == ALL_CALL_ADDRESS:
            raise ValueError("A PCA9685 at 0x70 would hear what is meant for all of them.")
        self._bus = bus
        self._address = address
        self.label = f"PCA9685 0x{address:02X} on bus {bus.name}"

    async def start(self, levels: Mapping[int, int] | None = None) -> None:
        """Sets the IC up from any state, and wakes it with `levels` (all others dark)."""
        frame = b"".join(_encode((levels or {}).get(c, 0)) for c in range(CHANNEL_COUNT))
        await self._bus.run(lambda smbus: self._prepare_asleep(smbus, frame))
        await self._bus.run(lambda smbus: smbus.write_byte_data(self._address, MODE1, AWAKE))
        await sleep_ms(WAKE_WAIT_MS)
        await self._bus.run(self._restart_if_asked)
        await self.check()

    async def write(self, levels: Mapping[int, int]) -> None:
        """Sets some channels; neighbours travel in one transfer."""
        runs = [
            (LED0 + 4 * first, b"".join(_encode(levels[c]) for c in range(first, last + 1)))
            for first, last in _contiguous(levels)
        ]
        await self._bus.run(lambda smbus: self._write_runs(smbus, runs))

    async def read_back(self, channel: int) -> int:
        _require_channel(channel)
        register = LED0 + 4 * channel
        data = await self._bus.run(lambda smbus: read_registers(smbus, self._address, register, 4))
        return self._decode(channel, data)

    async def check(self) -> None:
        """Raises IcFault when the IC lost its set-up, as after a dip of its supply."""
        await self._bus.run(self._verify_modes)

    def _prepare_asleep(self, smbus: SMBusLike, frame: bytes) -> None:
        smbus.write_byte_data(self._address, MODE1, ASLEEP)
        # RESTART reads as 1 here if lamps were running, and an external clock cannot be unset.
        mode1 = smbus.read_byte_data(self._address, MODE1)
        if mode1 & ~RESTART != ASLEEP:
            raise IcFault(f"{self.label} did not go to sleep: MODE1 reads 0x{mode1:02X}.")
        self._write(smbus, MODE2, [OUTPUTS])
        self._write(smbus, PRE_SCALE, [FASTEST_PRE_SCALE])
        for done in range(0, len(frame), START_BYTES_MAX):
            self._write(smbus, LED0 + done, frame[done : done + START_BYTES_MAX])

    def _restart_if_asked(self, smbus: SMBusLike) -> None:
        if smbus.read_byte_data(self._address, MODE1) & RESTART:
            smbus.write_byte_data(self._address, MODE1, AWAKE | RESTART)

    def _verify_modes(self, smbus: SMBusLike) -> None:
        verify(smbus, self._address, MODE1, [AWAKE, OUTPUTS], self.label)
        verify(smbus, self._address, PRE_SCALE, [FASTEST_PRE_SCALE], self.label)

    def _write_runs(self, smbus: SMBusLike, runs: Iterable[tuple[int, bytes]]) -> None:
        for register, data in runs:
            write_registers(smbus, self._address, register, data)

    def _write(self, smbus: SMBusLike, register: int, data: bytes | list[int]) -> None:
        write_verified(smbus, self._address, register, data, self.label)

    def _decode(self, channel: int, data: bytes) -> int:
        _, on_high, off_low, off_high = data
        if off_high & FULL:
            return 0
        if on_high & FULL:
            return LEVEL_MAX
        if data[0] or on_high:
            raise IcFault(f"{self.label}: channel {channel} has a delay nobody wrote.")
        return off_low | off_high << 8


@cache  # the same few steps of a fade, again and again
def _encode(level: int) -> bytes:
    if not 0 <= level <= LEVEL_MAX:
        raise ValueError(f"A lamp level is 0 to {LEVEL_MAX}, not {level}.")
    if level == 0:
        return bytes((0, 0, 0, FULL))
    if level == LEVEL_MAX:
        return bytes((0, FULL, 0, 0))
    return bytes((0, 0, level & 0xFF, level >> 8))


def _contiguous(channels: Iterable[int]) -> list[tuple[int, int]]:
    """The channels as (first, last) of each run without gaps, lowest first."""
    runs: list[tuple[int, int]] = []
    for channel in sorted(channels):
        _require_channel(channel)
        if runs and channel == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], channel)
        else:
            runs.append((channel, channel))
    return runs


def _require_channel(channel: int) -> None:
    if not 0 <= channel < CHANNEL_COUNT:
        raise ValueError(f"A PCA9685 has channels 0 to {CHANNEL_COUNT - 1}, not {channel}.")
