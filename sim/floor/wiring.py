"""Connects the models of one table as its board's file says: ICs to buses, lines and lamps.

It alone reads the file for the simulator. It is done once, before time starts; what then goes over
the wires is no business of its.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from hal.board.config import BoardConfig, IcConfig
from sim.floor.light_eye import AMBER, WHITE, LampEye
from sim.hardware.bus_wires import BusWires
from sim.hardware.faults import TableFaults
from sim.hardware.i2c import SimI2c
from sim.hardware.ics.base import Ic
from sim.hardware.ics.fdc1004 import DoneRule, Fdc1004
from sim.hardware.ics.mpr121 import IrqRule, Mpr121
from sim.hardware.ics.pca9685 import Pca9685
from sim.hardware.ics.pcf8574 import TextBackpack
from sim.hardware.ics.tca9548a import Tca9548a
from sim.hardware.ics.tca9555 import Tca9555
from sim.hardware.pins import SimPinFactory
from sim.time.clockwork import Clockwork


def new_ics(board: BoardConfig, irq_rule: IrqRule, done_rule: DoneRule) -> dict[str, Ic]:
    return {config.name: _new_ic(config, irq_rule, done_rule) for config in board.ics}


def _new_ic(config: IcConfig, irq_rule: IrqRule, done_rule: DoneRule) -> Ic:
    if config.kind == "mpr121":
        return Mpr121(config.address, irq_rule)
    if config.kind == "fdc1004":
        return Fdc1004(config.address, done_rule)
    kinds: dict[str, type[Ic]] = {
        "pca9685": Pca9685,
        "tca9555": Tca9555,
        "tca9548a": Tca9548a,
        "pcf8574": TextBackpack,
        "pca8574": TextBackpack,
    }
    if config.kind not in kinds:
        raise ValueError(f"The simulator has no model of a {config.kind} ({config.name}).")
    return kinds[config.kind](config.address)


class Wiring:
    """One board's ICs and the pins of its header, in the order in which they are connected."""

    def __init__(
        self,
        board: BoardConfig,
        ics: Mapping[str, Ic],
        pins: SimPinFactory,
        clockwork: Clockwork,
    ) -> None:
        self._board = board
        self._ics = ics
        self._pins = pins
        self._clockwork = clockwork

    def connect_ics(self, buses: Mapping[int, SimI2c]) -> None:
        for config in self._board.ics:
            ic = self._ics[config.name]
            if config.mux is None or config.mux_channel is None:
                buses[config.bus].attach(ic)
            else:
                self._mux(config).attach(config.mux_channel, ic)
            if config.interrupt_gpio is not None:
                self._pins.drive(config.interrupt_gpio, 1)
                ic.on_irq = partial(self._irq_changed, config.interrupt_gpio)

    def connect_bus_wires(
        self,
        buses: Mapping[int, SimI2c],
        faults: TableFaults,
        bring_to_now: Callable[[Ic], None],
        is_powered: Callable[[], bool],
    ) -> None:
        for config in self._board.buses:
            bus = buses[config.number]
            bus.on_transfer = self._clockwork.look
            BusWires(
                config,
                [self._ics[ic.name] for ic in self._board.ics if ic.bus == config.number],
                bus.faults,
                self._pins,
                faults.switched_off,
                bring_to_now,
                is_powered,
            )

    def connect_lamps(self, lamps: Callable[[], LampEye]) -> None:
        """Asks for the lamps at each change: a storm puts its own in their place."""
        for name, ic in self._ics.items():
            if isinstance(ic, Pca9685):
                ic.on_output = partial(_lamp_changed, lamps, self._lamps_on(name))

    def _lamps_on(self, name: str) -> dict[int, tuple[str, str]]:
        wired = {}
        for sensor in self._board.sensors:
            if sensor.lamp_ic == name:
                wired[sensor.white_channel] = (sensor.id, WHITE)
                wired[sensor.amber_channel] = (sensor.id, AMBER)
        return wired

    def _mux(self, config: IcConfig) -> Tca9548a:
        mux = self._ics[config.mux or ""]
        if not isinstance(mux, Tca9548a):
            raise ValueError(f"The IC {config.mux} before {config.name} is no TCA9548A.")
        return mux

    def _irq_changed(self, gpio: int, at_ns: int, low: bool) -> None:
        # The IC may be ahead of the loop: the wire moves when the loop gets there.
        self._clockwork.at(at_ns, partial(self._pins.drive, gpio, 0 if low else 1))


def _lamp_changed(
    lamps: Callable[[], LampEye],
    wired: Mapping[int, tuple[str, str]],
    at_ns: int,
    channel: int,
    level: int,
) -> None:
    if channel in wired:
        sensor, colour = wired[channel]
        lamps().record(sensor, colour, at_ns, level)
