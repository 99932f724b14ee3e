"""The physical world of one table, in table words: chips, fingers, keys, cards, lid and power.

It wires the register models to buses, pins, felt and lamps as the board's file says. It owns its
own truth: it never asks a driver or the controller anything. What a person did (chips on the felt,
key position, keys held) survives a power cut; registers do not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from hal.board_config import BoardConfig, ChipConfig
from sim.bus_wires import BusWires
from sim.capacitance import fdc1004_femtofarads, femtofarads
from sim.card_machine import CardMachine
from sim.chips.base import Chip, Level, Source
from sim.chips.fdc1004 import DoneRule, Fdc1004
from sim.chips.mpr121 import IrqRule, Mpr121
from sim.chips.pca9685 import Pca9685
from sim.chips.tca9548a import Tca9548a
from sim.chips.tca9555 import Tca9555
from sim.clockwork import Action, Clockwork
from sim.faults import TableFaults
from sim.felt import Felt
from sim.i2c import PI_0_TO_4, Adapter, SimI2c, sleep_until_ns
from sim.lamp_watch import AMBER, SETTLING, WHITE, LampWatch
from sim.physics.table import PhysicalTable
from sim.pins import SimPinFactory

T = TypeVar("T")

log = logging.getLogger("sim.world")

MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000
KEY_HOLD_MS = 80
KEY_TURN_MS = 30  # Break before make: for this long neither contact of the key is closed.
LIGHT_POLL_MS = 10

# Which contacts of the key switch are closed in which position: (run, jph).
KEY_CONTACTS = {
    "RUN": (True, False),
    "JPH": (False, True),
    "BETWEEN": (False, False),
    "SHORTED": (True, True),
}


class World:
    """One table's hardware. Acts take effect at the loop's time; `start` lets time reach chips."""

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
        self.key_position = "RUN"
        self.lid_open = False
        self._turn_count = 0
        self._clockwork = Clockwork()
        self.felt = Felt((sensor.id for sensor in board.sensors), seed)
        self.pins = SimPinFactory(self.now_ns)
        self.lamps = LampWatch()
        self.card_machine = CardMachine() if board.card_reader else None
        self.buses = {
            bus.number: SimI2c(bus.number, bus.frequency_hz, self.now_ns, adapter)
            for bus in board.buses
        }
        self.chips = {config.name: _new_chip(config, irq_rule, done_rule) for config in board.chips}
        self.faults = self._new_faults()
        self._wire_chips()
        self._wire_buses()
        self._wire_lamps()
        self._wire_contacts()
        if physical:
            self.lay_felt(PhysicalTable([sensor.id for sensor in board.sensors], seed))
        log.info("%s", self.felt.describe())

    # -- chips on the felt -------------------------------------------------------------------

    def place_chip(self, sensor: str) -> None:
        self.felt.place(sensor, self.now_ns())
        self._feel(sensor)

    def remove_chip(self, sensor: str) -> None:
        self.felt.remove(sensor, self.now_ns())
        self._feel(sensor)

    def has_chip(self, sensor: str) -> bool:
        return self.felt.pad(sensor).chip

    def spill(self, sensors: Sequence[str]) -> None:
        """A drink over these neighbours, in order; it stays until it is wiped."""
        self.felt.spill(sensors, self.now_ns())
        for sensor in sensors:
            self._feel(sensor)

    def wipe(self, sensors: Sequence[str]) -> None:
        self.felt.wipe(sensors, self.now_ns())
        for sensor in sensors:
            self._feel(sensor)

    def lay_felt(self, physics: PhysicalTable) -> None:
        """Exchanges the felt for a physical one that was drawn elsewhere."""
        self.felt.become_physical(physics)
        for sensor, pad in physics.pads.items():
            pad.lamp = partial(self.level_now, sensor, WHITE)
            self._feel(sensor)

    def on_felt(self, act: Callable[[PhysicalTable, float], T]) -> T:
        """Lets hands, liquid or the room act on a physical felt, from now (in seconds) on."""
        if self.felt.physics is None:
            raise ValueError("This felt is plain: it knows chips only.")
        result = act(self.felt.physics, self.now_ns() / SECOND_NS)
        for sensor in self.board.sensors:
            self._feel(sensor.id)
        return result

    # -- fingers, key, cards, lid ------------------------------------------------------------

    def press(self, key: str, hold_ms: int | None = KEY_HOLD_MS) -> None:
        """A finger on a key of the keypad, for `hold_ms` or until `release`."""
        self.press_together([key], hold_ms)

    def press_together(self, keys: Iterable[str], hold_ms: int | None = KEY_HOLD_MS) -> None:
        names = list(keys)
        for key in names:
            self._set_key(key, down=True)
        if hold_ms is not None:
            for key in names:
                self._later(hold_ms, partial(self._set_key, key, down=False))

    def release(self, key: str) -> None:
        self._set_key(key, down=False)

    def turn_key(self, position: str) -> None:
        """Turns the supervisor's key; its contacts follow as a real switch's do."""
        if position not in KEY_CONTACTS:
            raise ValueError(f"The key turns to {', '.join(KEY_CONTACTS)}, not {position}.")
        if self.board.keyswitch is None:
            raise ValueError("This table has no key switch.")
        if position == self.key_position:
            return
        self.key_position = position
        self._turn_count += 1
        self._set_contacts("BETWEEN")
        self._later(KEY_TURN_MS, partial(self._arrive, position, self._turn_count))

    def swipe(self, name: str) -> None:
        """A whole card through the reader: SUPERVISOR, EXECUTIVE or UNKNOWN."""
        if self._reader_lives():
            self._reader().swipe_card(name)

    def half_swipe(self, name: str) -> None:
        if self._reader_lives():
            self._reader().half_swipe(name)

    def garbage_swipe(self) -> None:
        if self._reader_lives():
            self._reader().garbage()

    def tamper(self, open: bool) -> None:  # noqa: A002
        """Opens or closes the lid. Its switch is closed with the lid, so a cut wire reads open."""
        self.lid_open = open
        if self.board.tamper is not None:
            self.pins.drive(self.board.tamper.gpio, None if open else 0)

    # -- power -------------------------------------------------------------------------------

    def cut_power(self) -> None:
        """Every chip forgets its registers, every lamp is dark, interrupt lines float high."""
        if not self.powered:
            return
        self.powered = False
        for chip in self.chips.values():
            self._bring_to_now(chip)
            chip.power_off()
        if self.card_machine is not None:
            self.card_machine.lose_power()

    def restore_power(self) -> None:
        if self.powered:
            return
        self.powered = True
        for chip in self.chips.values():
            self._bring_to_now(chip)
            chip.power_on()

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
        """Begins to pass the running loop's time on to the chips, in a task of its own."""
        self._clockwork.start()

    async def run(self) -> None:
        """The same, in the caller's own task."""
        await self._clockwork.run()

    async def close(self) -> None:
        await self._clockwork.stop()
        self.pins.close()
        if self.card_machine is not None:
            self.card_machine.close()
            self.card_machine = None

    def _later(self, delay_ms: int, action: Action) -> None:
        self._clockwork.at(self.now_ns() + delay_ms * MILLISECOND_NS, action)

    def _bring_to_now(self, chip: Chip) -> None:
        chip.advance(self.now_ns())
        self._clockwork.wake()

    # -- wires -------------------------------------------------------------------------------

    def _wire_chips(self) -> None:
        self._clockwork.drive(self.chips.values())
        for config in self.board.chips:
            chip = self.chips[config.name]
            self._connect(config, chip)
            if config.interrupt_gpio is not None:
                self.pins.drive(config.interrupt_gpio, 1)
                chip.on_irq = partial(self._irq_changed, config.interrupt_gpio)
        for sensor in self.board.sensors:
            self._feel(sensor.id)

    def _connect(self, config: ChipConfig, chip: Chip) -> None:
        if config.mux is None or config.mux_channel is None:
            self.buses[config.bus].attach(chip)
            return
        mux = self.chips[config.mux]
        if not isinstance(mux, Tca9548a):
            raise ValueError(f"The chip {config.mux} before {config.name} is no TCA9548A.")
        mux.attach(config.mux_channel, chip)

    def _wire_buses(self) -> None:
        for config in self.board.buses:
            bus = self.buses[config.number]
            bus.on_transfer = self._clockwork.look
            BusWires(
                config,
                [self.chips[chip.name] for chip in self.board.chips if chip.bus == config.number],
                bus.faults,
                self.pins,
                self.faults.switched_off,
                self._bring_to_now,
                lambda: self.powered,
            )

    def _wire_lamps(self) -> None:
        for name, chip in self.chips.items():
            if isinstance(chip, Pca9685):
                wired = {}
                for sensor in self.board.sensors:
                    if sensor.lamp_chip == name:
                        wired[sensor.white_channel] = (sensor.id, WHITE)
                        wired[sensor.amber_channel] = (sensor.id, AMBER)
                chip.on_output = partial(self._lamp_changed, wired)
        for sensor in self.board.sensors:
            self.lamps.add(sensor.id)

    def _wire_contacts(self) -> None:
        self._set_contacts("RUN")
        self.tamper(open=False)

    def _new_faults(self) -> TableFaults:
        return TableFaults(
            {number: bus.faults for number, bus in self.buses.items()},
            {config.name: (config.bus, self.chips[config.name]) for config in self.board.chips},
            {c.name: c.interrupt_gpio for c in self.board.chips if c.interrupt_gpio is not None},
            {sensor.id: (sensor.chip, sensor.electrode) for sensor in self.board.sensors},
            self.pins,
            self.felt,
            self._feel,
            self._bring_to_now,
        )

    def _irq_changed(self, gpio: int, at_ns: int, low: bool) -> None:
        # The chip may be ahead of the loop: the wire moves when the loop gets there.
        self._clockwork.at(at_ns, partial(self.pins.drive, gpio, 0 if low else 1))

    def _lamp_changed(
        self, wired: Mapping[int, tuple[str, str]], at_ns: int, channel: int, level: int
    ) -> None:
        if channel in wired:
            sensor, colour = wired[channel]
            self.lamps.record(sensor, colour, at_ns, level)

    def lay_reading(self, sensor: str, raw: int) -> None:
        """Makes the sensor's electrode measure a recorded value, whatever lies on its pad."""
        config = next(each for each in self.board.sensors if each.id == sensor)
        chip = self.chips[config.chip]
        if isinstance(chip, Fdc1004):
            chip.set_input(config.electrode, fdc1004_femtofarads(raw), self.now_ns())
            self._clockwork.wake()
        else:
            self._measure(sensor, raw)

    def _feel(self, sensor: str) -> None:
        """Tells the sensor's electrode what its pad measures now."""
        self._measure(sensor, self.felt.level(sensor))

    def _measure(self, sensor: str, level: Level) -> None:
        config = next(each for each in self.board.sensors if each.id == sensor)
        chip = self.chips[config.chip]
        if isinstance(chip, Mpr121):
            chip.set_input(config.electrode, level, self.now_ns())
        elif isinstance(chip, Fdc1004):
            level_ff = level if isinstance(level, Source) else femtofarads(level)
            chip.set_input(config.electrode, level_ff, self.now_ns())
        else:
            raise ValueError(f"The chip {config.chip} of sensor {sensor} senses nothing.")
        self._clockwork.wake()

    def _set_key(self, key: str, down: bool) -> None:
        keypad = self.board.keypad
        if keypad is None:
            raise ValueError("This table has no keypad.")
        if key not in keypad.keys:
            raise ValueError(f"There is no key {key}; there are {', '.join(keypad.keys)}.")
        chip = self.chips[keypad.chip]
        if not isinstance(chip, Tca9555):
            raise ValueError(f"The chip {keypad.chip} of the keypad is no TCA9555.")
        chip.set_pin(keypad.keys[key], not down, self.now_ns())
        self._clockwork.wake()

    def _arrive(self, position: str, turn: int) -> None:
        if turn == self._turn_count:  # Else the key was turned on before it got there.
            self._set_contacts(position)

    def _set_contacts(self, position: str) -> None:
        if self.board.keyswitch is not None:
            run_closed, jph_closed = KEY_CONTACTS[position]
            self.pins.drive(self.board.keyswitch.run_gpio, 0 if run_closed else None)
            self.pins.drive(self.board.keyswitch.jph_gpio, 0 if jph_closed else None)

    def _reader_lives(self) -> bool:
        self._reader()
        return self.powered

    def _reader(self) -> CardMachine:
        if self.card_machine is None:
            raise ValueError("This table has no card reader.")
        return self.card_machine


def _new_chip(config: ChipConfig, irq_rule: IrqRule, done_rule: DoneRule) -> Chip:
    if config.kind == "mpr121":
        return Mpr121(config.address, irq_rule)
    if config.kind == "fdc1004":
        return Fdc1004(config.address, done_rule)
    kinds = {"pca9685": Pca9685, "tca9555": Tca9555, "tca9548a": Tca9548a}
    if config.kind not in kinds:
        raise ValueError(f"The simulator has no model of a {config.kind} ({config.name}).")
    return kinds[config.kind](config.address)
