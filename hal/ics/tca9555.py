"""The TCA9555 sixteen-line expander, used for its inputs.

It alone knows the registers, which come in pairs: a second byte goes to the other half of the pair.
Which key hangs on which line, and what low or high means there, is not its business.
"""

from __future__ import annotations

from hal.bus.i2c import I2cBus, SMBusLike, read_registers
from hal.ics.registers import write_verified

INPUTS = 0x00
OUTPUT_LATCHES = 0x02
POLARITIES = 0x04
DIRECTIONS = 0x06

LINES_MASK = 0xFFFF


class Tca9555:
    """Lines 0 to 15; bit 0 is line 0."""

    def __init__(self, bus: I2cBus, address: int) -> None:
        self._bus = bus
        self._address = address
        self.label = f"TCA9555 0x{address:02X} on bus {bus.name}"

    async def start(self, inputs_mask: int) -> None:
        """Lines in the mask become inputs; the others are driven low, so that none floats."""
        if not 0 <= inputs_mask <= LINES_MASK:
            raise ValueError(f"A mask of 16 lines cannot be {inputs_mask:#x}.")
        await self._bus.run(lambda smbus: self._configure(smbus, inputs_mask))

    async def read(self) -> int:
        """The levels on the wires now."""
        low, high = await self._bus.run(
            lambda smbus: read_registers(smbus, self._address, INPUTS, 2)
        )
        return low | high << 8

    def _configure(self, smbus: SMBusLike, inputs_mask: int) -> None:
        # Low before any line is driven: a key that closes to ground then meets no short circuit.
        self._write(smbus, OUTPUT_LATCHES, 0)
        self._write(smbus, POLARITIES, 0)
        self._write(smbus, DIRECTIONS, inputs_mask)

    def _write(self, smbus: SMBusLike, register: int, value: int) -> None:
        data = [value & 0xFF, value >> 8]
        write_verified(smbus, self._address, register, data, self.label)
