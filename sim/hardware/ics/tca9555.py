"""TCA9555 port expander: two ports of eight pins with an interrupt on a difference.

Pins are levels from outside (a key, a contact, a pull-up). The model says what a driver reads and
when INT is low; which key hangs on which pin is the world's business.
"""

from __future__ import annotations

from sim.hardware.ics.base import Ic

INPUT, OUTPUT, POLARITY, CONFIG = 0, 2, 4, 6


class Tca9555(Ic):
    """One TCA9555, `address` 0x20 to 0x27. Unconnected pins are pulled high."""

    def __init__(self, address: int) -> None:
        super().__init__(address)
        self._outside = [0xFF, 0xFF]
        self._reset()

    def set_pin(self, pin: int, high: bool, at_ns: int) -> None:
        """The level that the outside gives pin 0 to 15 from `at_ns` on."""
        self.advance(at_ns)
        port, bit = divmod(pin, 8)
        if high:
            self._outside[port] |= 1 << bit
        else:
            self._outside[port] &= ~(1 << bit) & 0xFF
        self._watch()

    def write(self, data: bytes) -> bool:
        if data:
            self._pointer = data[0] & 7
        for value in data[1:]:
            if self._pointer >= OUTPUT:
                self._registers[self._pointer] = value
            self._pointer ^= 1  # The other register of the pair, never the next pair.
        self._watch()
        return True

    def read(self, count: int) -> bytes:
        values = bytearray()
        for _ in range(count):
            values.append(self._read_register(self._pointer))
            self._pointer ^= 1
        self._watch()
        return bytes(values)

    def power_off(self) -> None:
        super().power_off()
        self._reset()

    def power_on(self) -> None:
        super().power_on()
        self._last_read = [self._pins(0), self._pins(1)]
        self._watch()

    def pin_high(self, pin: int) -> bool:
        """What a meter would show on the pin: its latch if it is an output, else the outside."""
        port, bit = divmod(pin, 8)
        return bool(self._pins(port) >> bit & 1)

    def _reset(self) -> None:
        self._registers = bytearray([0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF])
        self._pointer = 0
        self._last_read = [self._pins(0), self._pins(1)]

    def _pins(self, port: int) -> int:
        inputs = self._registers[CONFIG + port]
        return self._outside[port] & inputs | self._registers[OUTPUT + port] & ~inputs & 0xFF

    def _read_register(self, register: int) -> int:
        if register >= OUTPUT:
            return self._registers[register]
        self._last_read[register] = self._pins(register)
        return self._last_read[register] ^ self._registers[POLARITY + register]

    def _watch(self) -> None:
        """INT is low while an input differs from what was last read of its port."""
        differs = any(
            (self._pins(port) ^ self._last_read[port]) & self._registers[CONFIG + port]
            for port in (0, 1)
        )
        self._pull_irq(self.powered and differs)
