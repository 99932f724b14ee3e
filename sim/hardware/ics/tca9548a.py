"""TCA9548A multiplexer: one control byte, eight channels, any number of them on at once.

It connects the ICs of the channels that are on to the bus it sits on; where two of them share an
address both answer, and the bus shows what the wires would. A new control byte counts from the
STOP on, as in the IC. Without supply nothing behind it can be reached, and it wakes with all off.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.hardware.ics.base import Ic

CHANNEL_COUNT = 8


class Tca9548a(Ic):
    """One TCA9548A, `address` 0x70 to 0x77."""

    def __init__(self, address: int) -> None:
        super().__init__(address)
        self._channels: list[list[Ic]] = [[] for _ in range(CHANNEL_COUNT)]
        self._connected: list[Ic] = []
        self._control = 0
        self._next_control = 0

    def attach(self, channel: int, ic: Ic) -> None:
        """Wires an IC to a channel."""
        if any(other.address == ic.address for other in self._channels[channel]):
            raise ValueError(f"Channel {channel} already has an IC at {ic.address:#04x}.")
        self._channels[channel].append(ic)
        self._switch()

    def connected(self) -> Sequence[Ic]:
        return self._connected if self.powered else ()

    def write(self, data: bytes) -> bool:
        if data:
            self._next_control = data[-1]
        return True

    def read(self, count: int) -> bytes:
        return bytes([self._control]) * count

    def stop(self) -> None:
        if self._control != self._next_control:
            self._control = self._next_control
            self._switch()

    def power_off(self) -> None:
        super().power_off()
        self._control = self._next_control = 0
        self._switch()

    def _switch(self) -> None:
        # Kept, because the bus asks at each message, and the channels seldom change.
        self._connected = [
            ic
            for channel, ics in enumerate(self._channels)
            if self._control >> channel & 1
            for ic in ics
        ]
