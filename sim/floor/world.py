"""The physical world of one table, in table words: chips, fingers, keys, cards, lid and power.

It holds the models of felt, ICs, buses, pins and lamps, and what acts on all of them: power and
time. It owns its own truth: it never asks a driver or the controller anything. What a person did
(chips on the felt, key position, keys held) survives a power cut; registers do not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from hal.board.config import BoardConfig
from sim.felt.felt import Felt
from sim.felt.physics.table import PhysicalTable
from sim.floor.controls import Controls
from sim.floor.electrodes import Electrodes
from sim.floor.light_eye import SETTLING, WHITE, LampEye
from sim.floor.text_eye import TextEye
from sim.floor.wiring import Wiring, new_ics
from sim.hardware.faults import TableFaults
from sim.hardware.i2c import PI_0_TO_4, Adapter, SimI2c, sleep_until_ns
from sim.hardware.ics.base import Ic
from sim.hardware.ics.fdc1004 import DoneRule
from sim.hardware.ics.mpr121 import IrqRule
from sim.hardware.pins import SimPinFactory
from sim.time.clockwork import Clockwork

T = TypeVar("T")

log = logging.getLogger("sim.floor.world")

MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000
LIGHT_POLL_MS = 10


class World:
    """One table's hardware. Acts take effect at the loop's time; `start` lets time reach ICs."""

    def __init__(
        self,
        board: BoardConfig,
        seed: int = 1,
        irq_rule: IrqRule = IrqRule.STATUS_READ,
        adapter: Adapter = PI_0_TO_4,
        done_rule: DoneRule = DoneRule.LOW_HALF_READ,
        physical: bool = False,
    ) -> None:
        self.board = board
        self.powered = True
        self._clockwork = Clockwork()
        self.felt = Felt((sensor.id for sensor in board.sensors), seed)
        self.pins = SimPinFactory(self._clockwork.now_ns)
        self.lamps = LampEye()
        self.buses = {
            bus.number: SimI2c(bus.number, bus.frequency_hz, self._clockwork.now_ns, adapter)
            for bus in board.buses
        }
        self.ics = new_ics(board, irq_rule, done_rule)
        self.text = TextEye(self.ics)
        self.electrodes = Electrodes(board, self.ics, self.felt, self._clockwork)
        self.faults = self._new_faults()
        self._connect()
        self.controls = Controls(board, self.ics, self.pins, self._clockwork, lambda: self.powered)
        if physical:
            self.lay_felt(PhysicalTable([sensor.id for sensor in board.sensors], seed))
        log.info("%s", self.felt.describe())

    def _connect(self) -> None:
        self._clockwork.drive(self.ics.values())
        wiring = Wiring(self.board, self.ics, self.pins, self._clockwork)
        wiring.connect_ics(self.buses)
        self.electrodes.feel_all()
        wiring.connect_bus_wires(self.buses, self.faults, self._bring_to_now, lambda: self.powered)
        wiring.connect_lamps(lambda: self.lamps)
        for sensor in self.board.sensors:
            self.lamps.add(sensor.id)

    def _new_faults(self) -> TableFaults:
        return TableFaults(
            {number: bus.faults for number, bus in self.buses.items()},
            {config.name: (config.bus, self.ics[config.name]) for config in self.board.ics},
            {c.name: c.interrupt_gpio for c in self.board.ics if c.interrupt_gpio is not None},
            {sensor.id: (sensor.ic, sensor.electrode) for sensor in self.board.sensors},
            self.pins,
            self.felt,
            self.electrodes.feel,
            self._bring_to_now,
        )

    # -- chips on the felt -------------------------------------------------------------------

    def place_chip(self, sensor: str) -> None:
        self.felt.place(sensor, self.now_ns())
        self.electrodes.feel(sensor)

    def remove_chip(self, sensor: str) -> None:
        self.felt.remove(sensor, self.now_ns())
        self.electrodes.feel(sensor)

    def has_chip(self, sensor: str) -> bool:
        return self.felt.pad(sensor).chip

    def spill(self, sensors: Sequence[str]) -> None:
        """A drink over these neighbours, in order; it stays until it is wiped."""
        self.felt.spill(sensors, self.now_ns())
        self.electrodes.feel_all(sensors)

    def wipe(self, sensors: Sequence[str]) -> None:
        self.felt.wipe(sensors, self.now_ns())
        self.electrodes.feel_all(sensors)

    def lay_felt(self, physics: PhysicalTable) -> None:
        """Exchanges the felt for a physical one that was drawn elsewhere."""
        self.felt.become_physical(physics)
        for sensor, pad in physics.pads.items():
            pad.lamp = partial(self.level_now, sensor, WHITE)
            self.electrodes.feel(sensor)

    def on_felt(self, act: Callable[[PhysicalTable, float], T]) -> T:
        """Lets hands, liquid or the room act on a physical felt, from now (in seconds) on."""
        if self.felt.physics is None:
            raise ValueError("This felt is plain: it knows chips only.")
        result = act(self.felt.physics, self.now_ns() / SECOND_NS)
        self.electrodes.feel_all()
        return result

    # -- power -------------------------------------------------------------------------------

    def cut_power(self) -> None:
        """Every IC forgets its registers, every lamp is dark, interrupt lines float high."""
        if not self.powered:
            return
        self.powered = False
        for ic in self.ics.values():
            self._bring_to_now(ic)
            ic.power_off()
        self.controls.lose_power()

    def restore_power(self) -> None:
        if self.powered:
            return
        self.powered = True
        for ic in self.ics.values():
            self._bring_to_now(ic)
            ic.power_on()

    # -- what a person sees ------------------------------------------------------------------

    def light(self, sensor: str) -> str:
        """The sensor's light in the last second; "settling" while that is not conclusive."""
        return self.lamps.light(sensor, self.now_ns())

    def level_now(self, sensor: str, colour: str) -> float:
        """The brightness of one lamp, 0 to 1, for a picture of the table."""
        return self.lamps.level(sensor, colour, self.now_ns())

    async def settled_light(self, sensor: str, timeout_ms: int = 3000) -> str:
        """Watches until the light is conclusive, or for `timeout_ms` at most."""
        for _ in range(timeout_ms // LIGHT_POLL_MS):
            if self.light(sensor) != SETTLING:
                break
            await sleep_until_ns(self.now_ns() + LIGHT_POLL_MS * MILLISECOND_NS, self.now_ns)
        return self.light(sensor)

    # -- time --------------------------------------------------------------------------------

    def now_ns(self) -> int:
        return self._clockwork.now_ns()

    def start(self) -> None:
        """Begins to pass the running loop's time on to the ICs, in a task of its own."""
        self._clockwork.start()

    async def run(self) -> None:
        """The same, in the caller's own task."""
        await self._clockwork.run()

    async def close(self) -> None:
        await self._clockwork.stop()
        self.pins.close()
        self.controls.close()

    def _bring_to_now(self, ic: Ic) -> None:
        ic.advance(self.now_ns())
        self._clockwork.wake()
