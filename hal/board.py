"""The hardware of one table, opened: every part its file names, by name.

It alone knows how parts are wired together. It starts nothing by itself except when asked, and it
releases everything it opened.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from hal.backend import Backend
from hal.board_config import BoardConfig, BusConfig, ChipConfig
from hal.bus_recovery import BusRecovery
from hal.capacitive import CapacitiveSensor
from hal.card_reader import CardReader
from hal.chip_kinds import FDC1004, PCA9685, SENSING_KINDS, TCA9548A
from hal.chips.fdc1004 import Fdc1004
from hal.chips.mpr121 import Mpr121
from hal.chips.pca9685 import Pca9685
from hal.chips.tca9548a import Tca9548a
from hal.chips.tca9555 import Tca9555
from hal.i2c import Bus, I2cBus, SMBusLike
from hal.keypad import Keypad
from hal.keyswitch import KeySwitch
from hal.lamps import LampBank, LampPlace
from hal.lines import InputLine


@dataclass(frozen=True, slots=True)
class SensorPlace:
    """Where a sensor is: its seat and letter on the felt, its electrode on a chip."""

    id: str
    seat: int
    letter: str
    chip: str
    electrode: int


@dataclass
class Board:
    """Made by `from_config`; `close` it when done."""

    serial: str
    sensors: list[SensorPlace]
    buses: dict[int, I2cBus]
    muxes: dict[str, Tca9548a]
    chips: dict[str, CapacitiveSensor]
    lamps: LampBank
    lamp_buses: frozenset[int]
    keypad: Keypad | None
    keyswitch: KeySwitch | None
    tamper: InputLine | None
    card_reader: CardReader | None
    _opened: ExitStack

    @classmethod
    def from_config(cls, board: BoardConfig, backend: Backend) -> Board:
        """Opens every part, or raises and leaves nothing open."""
        with ExitStack() as opened:
            builder = _Builder(board, backend, opened)
            return cls(
                serial=board.serial,
                sensors=[
                    SensorPlace(s.id, s.seat, s.letter, s.chip, s.electrode) for s in board.sensors
                ],
                buses=builder.buses,
                muxes=builder.muxes,
                chips=builder.sensing_chips(),
                lamps=builder.lamps(),
                lamp_buses=frozenset(chip.bus for chip in board.chips if chip.kind == PCA9685),
                keypad=builder.keypad(),
                keyswitch=builder.keyswitch(),
                tamper=builder.tamper(),
                card_reader=builder.card_reader(),
                _opened=opened.pop_all(),
            )

    async def start_lamps(self) -> None:
        """First of all starts: until then lamp chips also answer on the shared address 0x70."""
        await self.lamps.start()

    def close(self) -> None:
        self._opened.close()


class _Builder:
    """Opens parts in order and notes how to release each."""

    def __init__(self, config: BoardConfig, backend: Backend, opened: ExitStack) -> None:
        self._config = config
        self._backend = backend
        self._opened = opened
        self.buses: dict[int, I2cBus] = {}
        for bus in config.buses:
            smbus, worker = backend.open_i2c(bus.number, bus.frequency_hz)
            recovery = self._recovery(bus, smbus)
            self.buses[bus.number] = I2cBus(str(bus.number), smbus, worker, recovery=recovery)
            opened.callback(self.buses[bus.number].close)
        self.muxes = {
            chip.name: Tca9548a(self.buses[chip.bus], chip.address)
            for chip in config.chips
            if chip.kind == TCA9548A
        }

    def sensing_chips(self) -> dict[str, CapacitiveSensor]:
        return {
            chip.name: self._sensing_chip(chip)
            for chip in self._config.chips
            if chip.kind in SENSING_KINDS
        }

    def lamps(self) -> LampBank:
        chips = {
            chip.name: Pca9685(self.buses[chip.bus], chip.address)
            for chip in self._config.chips
            if chip.kind == PCA9685
        }
        places = {}
        for sensor in self._config.sensors:
            places[sensor.id, "white"] = LampPlace(sensor.lamp_chip, sensor.white_channel)
            places[sensor.id, "amber"] = LampPlace(sensor.lamp_chip, sensor.amber_channel)
        return LampBank(chips, places)

    def keypad(self) -> Keypad | None:
        keypad = self._config.keypad
        if keypad is None:
            return None
        chip = self._config.chip(keypad.chip)
        expander = Tca9555(self.buses[chip.bus], chip.address)
        return Keypad(expander, keypad.keys, self._interrupt(chip))

    def keyswitch(self) -> KeySwitch | None:
        keyswitch = self._config.keyswitch
        if keyswitch is None:
            return None
        # A closed contact pulls its line to ground.
        return KeySwitch(
            self._line("key switch RUN", keyswitch.run_gpio, active_low=True),
            self._line("key switch JPH", keyswitch.jph_gpio, active_low=True),
        )

    def tamper(self) -> InputLine | None:
        if self._config.tamper is None:
            return None
        # The lid holds the switch closed to ground: an opened lid and a cut wire look the same.
        return self._line("tamper switch", self._config.tamper.gpio, active_low=False)

    def card_reader(self) -> CardReader | None:
        if self._config.card_reader is None:
            return None
        reader = CardReader(self._backend.serial_path(self._config.card_reader.path))
        self._opened.callback(reader.close)
        return reader

    def _recovery(self, bus: BusConfig, smbus: SMBusLike) -> BusRecovery | None:
        pins, supply_gpio, backend = bus.recovery, bus.supply_gpio, self._backend
        if pins is None and supply_gpio is None:
            return None
        recovery = BusRecovery(
            str(bus.number),
            backend.bus_pins(bus.number, smbus, pins.scl_gpio, pins.sda_gpio) if pins else None,
            (lambda: backend.open_drain(supply_gpio)) if supply_gpio is not None else None,
        )
        recovery.restore_supply()
        return recovery

    def _sensing_chip(self, chip: ChipConfig) -> CapacitiveSensor:
        sensors = sorted(self._config.sensors_on(chip.name), key=lambda sensor: sensor.electrode)
        thresholds = [(sensor.touch_threshold, sensor.release_threshold) for sensor in sensors]
        if chip.kind == FDC1004:
            return Fdc1004(self._bus_of(chip), len(sensors), thresholds, chip.capdac)
        return Mpr121(
            self._bus_of(chip),
            chip.address,
            electrode_count=len(sensors),
            thresholds=thresholds,
            charge_current_microamps=chip.charge_current_microamps,
            interrupt=self._interrupt(chip),
        )

    def _bus_of(self, chip: ChipConfig) -> Bus:
        if chip.mux is None or chip.mux_channel is None:
            return self.buses[chip.bus]
        return self.muxes[chip.mux].channel(chip.mux_channel)

    def _interrupt(self, chip: ChipConfig) -> InputLine | None:
        if chip.interrupt_gpio is None:
            return None
        return self._line(f"interrupt of {chip.name}", chip.interrupt_gpio, active_low=True)

    def _line(self, name: str, gpio: int, active_low: bool) -> InputLine:
        line = InputLine(name, self._backend.pin_factory(), gpio, active_low, pull_up=True)
        self._opened.callback(line.close)
        return line
