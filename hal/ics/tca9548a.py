"""The TCA9548A multiplexer: one bus on eight channels, for ICs that share a fixed address.

It selects a channel and talks to the IC behind it within one job of the bus, so that no other
conversation can come between and reach the wrong IC. A control byte that is not what was last
written means that the multiplexer lost its supply or was reset: that is counted, said and mended.
What sits behind a channel is not its business.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from smbus2 import i2c_msg

from hal.bus.i2c import Bus, I2cBus, SMBusLike, TransferBroken, message_bytes
from hal.ics.kinds import MUX_CHANNEL_MAX

T = TypeVar("T")
log = logging.getLogger("hal.ics.tca9548a")


class Tca9548a:
    """One multiplexer at one address; `channel` gives what a driver takes for its bus."""

    def __init__(self, bus: I2cBus, address: int) -> None:
        self.reset_count = 0
        self.last_fault = ""
        self._bus = bus
        self._address = address
        self.label = f"TCA9548A 0x{address:02X} on bus {bus.name}"
        # None: this program has not written it yet, and a program before it may have.
        self._written: int | None = None

    def channel(self, number: int) -> Bus:
        if not 0 <= number <= MUX_CHANNEL_MAX:
            raise ValueError(f"A TCA9548A has channels 0 to {MUX_CHANNEL_MAX}, not {number}.")
        return _MuxChannel(self, number)

    async def run_behind(self, channel: int, job: Callable[[SMBusLike], T]) -> T:
        """Runs a conversation with the ICs of one channel, and with no other channel on."""
        return await self._bus.run(lambda smbus: self._through(smbus, 1 << channel, job))

    async def check(self) -> None:
        """Raises BusFault when it does not answer; behind it nothing would."""
        await self._bus.run(self._read)

    @property
    def bus_name(self) -> str:
        return self._bus.name

    def _through(self, smbus: SMBusLike, control: int, job: Callable[[SMBusLike], T]) -> T:
        self._select(smbus, control)
        return job(smbus)

    def _select(self, smbus: SMBusLike, control: int) -> None:
        found = self._read(smbus)
        if self._written is not None and found != self._written:
            self._note_reset(found)
        if found == control:
            self._written = control
            return
        # Unknown until it was read back: the transfer may fail on either side of the switch.
        self._written = None
        smbus.i2c_rdwr(i2c_msg.write(self._address, [control]))
        found = self._read(smbus)
        if found != control:
            # Else the IC of another seat would answer for this one.
            raise TransferBroken(
                f"{self.label} has its channels at 0x{found:02X} after 0x{control:02X}"
            )
        self._written = control

    def _read(self, smbus: SMBusLike) -> int:
        answer = i2c_msg.read(self._address, 1)
        smbus.i2c_rdwr(answer)
        return message_bytes(answer)[0]

    def _note_reset(self, found: int) -> None:
        self.reset_count += 1
        self.last_fault = f"{self.label} was reset: its channels read 0x{found:02X}."
        log.warning("%s Resets so far: %d.", self.last_fault, self.reset_count)


class _MuxChannel(Bus):
    """One channel, spoken to as if it were a bus of its own."""

    def __init__(self, mux: Tca9548a, number: int) -> None:
        self.name = f"{mux.bus_name} channel {number}"
        self._mux = mux
        self._number = number

    async def run(self, job: Callable[[SMBusLike], T]) -> T:
        return await self._mux.run_behind(self._number, job)
