"""TCA9548A multiplexer: one control byte, eight channels, any number of them on at once.

It connects the chips of the channels that are on to the bus it sits on; where two of them share an
address both answer, and the bus shows what the wires would. A new control byte counts from the
STOP on, as in the chip. Without supply nothing behind it can be reached, and it wakes with all off.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.chips.base import Chip

CHANNEL_COUNT = 8


class Tca9548a(Chip):
    """One TCA9548A, `address` 0x70 to 0x77."""

    def __init__(self, address: int) -> None:
        super().__init__(address)
        self._channels: list[list[Chip]] = [[] for _ in range(CHANNEL_COUNT)]
        self._control = 0
        self._next_control = 0

    def attach(self, channel: int, chip: Chip) -> None:
        """Wires a chip to a channel."""
        if any(other.address == chip.address for other in self._channels[channel]):
            raise ValueError(f"Channel {channel} already has a chip at {chip.address:#04x}.")
        self._channels[channel].append(chip)

    def connected(self) -> Sequence[Chip]:
        if not self.powered:
            return ()
        return [
            chip
            for channel, chips in enumerate(self._channels)
            if self._control >> channel & 1
            for chip in chips
        ]

    def write(self, data: bytes) -> bool:
        if data:
            self._next_control = data[-1]
        return True

    def read(self, count: int) -> bytes:
        return bytes([self._control]) * count

    def stop(self) -> None:
        self._control = self._next_control

    def power_off(self) -> None:
        super().power_off()
        self._control = self._next_control = 0
