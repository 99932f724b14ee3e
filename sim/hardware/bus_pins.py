"""The wires of a simulated bus in the hands of a recovery: the header's pins, low or let go.

It only moves pins; who hears the clock and who holds the data line is the world's business.
"""

from __future__ import annotations

from hal.bus.recovery import BusPins, OpenDrainLine
from sim.hardware.pins import SimPinFactory


class SimOpenDrain(OpenDrainLine):
    """One pin of the simulated header, pulled low or let go."""

    def __init__(self, pins: SimPinFactory, gpio: int) -> None:
        self._pin = pins.pin(gpio)
        self._pin.pull = "up"

    def low(self) -> None:
        self._pin.output_with_state(0)

    def release(self) -> None:
        self._pin.function = "input"

    def is_high(self) -> bool:
        return bool(self._pin.state)

    def close(self) -> None:
        self._pin.close()


class SimBusPins(BusPins):
    """The wires of a simulated bus; nothing else uses them while a worker's job does."""

    def __init__(self, pins: SimPinFactory, scl_gpio: int, sda_gpio: int) -> None:
        self._pins = pins
        self._gpios = (scl_gpio, sda_gpio)
        self._lines: list[SimOpenDrain] = []

    def take(self) -> tuple[OpenDrainLine, OpenDrainLine]:
        self._lines = [SimOpenDrain(self._pins, gpio) for gpio in self._gpios]
        scl, sda = self._lines
        return scl, sda

    def give_back(self) -> None:
        while self._lines:
            self._lines.pop().close()
