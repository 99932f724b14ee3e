"""The simulated board's devices for the controller, under the explicit name "simulated".

One backend is one process on the board: it opens what the world has wired. It decides nothing and
is handed in by whoever runs a simulation; nothing that ships to a unit can choose it.
"""

from __future__ import annotations

import errno

import gpiozero

from hal.backend import Backend
from hal.bus.i2c import SMBusLike
from hal.bus.recovery import BusPins, OpenDrainLine
from hal.errors import HardwareFault
from hal.worker import InlineWorker, Worker
from sim.floor.world import World
from sim.hardware.bus_pins import SimBusPins, SimOpenDrain
from sim.hardware.i2c import SimBusWorker
from sim.hardware.smbus import SimSMBus


class SimBackend(Backend):
    """Opens the devices of one world."""

    name = "simulated"

    def __init__(self, world: World) -> None:
        self._world = world
        world.pins.restart()

    def open_i2c(self, number: int, frequency_hz: int) -> tuple[SMBusLike, Worker]:
        if number not in self._world.buses:
            raise HardwareFault(f"I2C bus {number} could not be opened: the board has none.")
        bus = self._world.buses[number]
        bus.set_frequency(frequency_hz)
        return SimSMBus(bus), SimBusWorker(bus)

    def pin_factory(self) -> gpiozero.Factory:
        return self._world.pins

    def serial_path(self, path: str) -> str:
        board, controls = self._world.board, self._world.controls
        lines = ((board.card_reader, controls.card_machine), (board.shuffler, controls.shuffler))
        for config, line in lines:
            if config is not None and line is not None and path == config.path:
                return line.path
        raise OSError(errno.ENOENT, "No such file or directory", path)

    def disk_worker(self, name: str = "disk") -> Worker:
        return InlineWorker(name)

    def bus_pins(self, number: int, smbus: SMBusLike, scl_gpio: int, sda_gpio: int) -> BusPins:
        return SimBusPins(self._world.pins, scl_gpio, sda_gpio)

    def open_drain(self, gpio: int) -> OpenDrainLine:
        return SimOpenDrain(self._world.pins, gpio)
