"""The hardware of one table, opened: every part its file names, by name.

It alone knows how parts are wired together. It starts nothing by itself except when asked, and it
releases everything it opened.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from hal.backend import Backend
from hal.board.config import BoardConfig, BusConfig, IcConfig
from hal.bus.i2c import Bus, I2cBus, SMBusLike
from hal.bus.recovery import BusRecovery
from hal.devices.capacitive import CapacitiveSensor
from hal.devices.card_reader import CardReader
from hal.devices.keypad import Keypad
from hal.devices.keyswitch import KeySwitch
from hal.devices.lamps import LampBank, LampPlace
from hal.devices.lines import InputLine
from hal.devices.serial_feed import SerialFeed
from hal.devices.text_display import TextDisplay
from hal.ics.fdc1004 import Fdc1004
from hal.ics.kinds import FDC1004, PCA9685, SENSING_KINDS, TCA9548A
from hal.ics.mpr121 import Mpr121
from hal.ics.pca9685 import Pca9685
from hal.ics.pcf8574 import TextLcd
from hal.ics.tca9548a import Tca9548a
from hal.ics.tca9555 import Tca9555


@dataclass(frozen=True, slots=True)
class SensorPlace:
    """Where a sensor is: its seat and letter on the felt, its electrode on an IC."""

    id: str
    seat: int
    letter: str
    ic: str
    electrode: int


@dataclass
class Board:
    """Made by `from_config`; `close` it when done."""

    serial: str
    sensors: list[SensorPlace]
    buses: dict[int, I2cBus]
    muxes: dict[str, Tca9548a]
    ics: dict[str, CapacitiveSensor]
    lamps: LampBank
    lamp_buses: frozenset[int]
    keypad: Keypad | None
    text_display: TextDisplay | None
    keyswitch: KeySwitch | None
    tamper: InputLine | None
    card_reader: CardReader | None
    shuffler: SerialFeed | None
    _opened: ExitStack

    @classmethod
    def from_config(cls, board: BoardConfig, backend: Backend) -> Board:
        """Opens every part, or raises and leaves nothing open."""
        with ExitStack() as opened:
            builder = _Builder(board, backend, opened)
            return cls(
                serial=board.serial,
                sensors=[
                    SensorPlace(s.id, s.seat, s.letter, s.ic, s.electrode) for s in board.sensors
                ],
                buses=builder.buses,
                muxes=builder.muxes,
                ics=builder.sensing_ics(),
                lamps=builder.lamps(),
                lamp_buses=frozenset(ic.bus for ic in board.ics if ic.kind == PCA9685),
                keypad=builder.keypad(),
                text_display=builder.text_display(),
                keyswitch=builder.keyswitch(),
                tamper=builder.tamper(),
                card_reader=builder.card_reader(),
                shuffler=builder.shuffler(),
                _opened=opened.pop_all(),
            )

    async def start_lamps(self) -> None:
        """First of all starts: until then lamp ICs also answer on the shared address 0x70."""
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
            ic.name: Tca9548a(self.buses[ic.bus], ic.address)
            for ic in config.ics
            if ic.kind == TCA9548A
        }

    def sensing_ics(self) -> dict[str, CapacitiveSensor]:
        return {
            ic.name: self._sensing_ic(ic) for ic in self._config.ics if ic.kind in SENSING_KINDS
        }

    def lamps(self) -> LampBank:
        ics = {
            ic.name: Pca9685(self.buses[ic.bus], ic.address)
            for ic in self._config.ics
            if ic.kind == PCA9685
        }
        places = {}
        for sensor in self._config.sensors:
            places[sensor.id, "white"] = LampPlace(sensor.lamp_ic, sensor.white_channel)
            places[sensor.id, "amber"] = LampPlace(sensor.lamp_ic, sensor.amber_channel)
        return LampBank(ics, places)

    def keypad(self) -> Keypad | None:
        keypad = self._config.keypad
        if keypad is None:
            return None
        ic = self._config.ic(keypad.ic)
        expander = Tca9555(self.buses[ic.bus], ic.address)
        return Keypad(expander, keypad.keys, self._interrupt(ic))

    def text_display(self) -> TextDisplay | None:
        if self._config.text_display is None:
            return None
        ic = self._config.ic(self._config.text_display.ic)
        return TextDisplay(TextLcd(self.buses[ic.bus], ic.address))

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
        config = self._config.card_reader
        path = self._backend.serial_path(config.path)
        reader = CardReader(path, config.baud, config.framing)
        self._opened.callback(reader.close)
        return reader

    def shuffler(self) -> SerialFeed | None:
        if self._config.shuffler is None:
            return None
        feed = SerialFeed("shuffler", self._backend.serial_path(self._config.shuffler.path))
        self._opened.callback(feed.close)
        return feed

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

    def _sensing_ic(self, ic: IcConfig) -> CapacitiveSensor:
        sensors = sorted(self._config.sensors_on(ic.name), key=lambda sensor: sensor.electrode)
        thresholds = [(sensor.touch_threshold, sensor.release_threshold) for sensor in sensors]
        if ic.kind == FDC1004:
            return Fdc1004(self._bus_of(ic), len(sensors), thresholds, ic.capdac)
        return Mpr121(
            self._bus_of(ic),
            ic.address,
            electrode_count=len(sensors),
            thresholds=thresholds,
            charge_current_microamps=ic.charge_current_microamps,
            interrupt=self._interrupt(ic),
        )

    def _bus_of(self, ic: IcConfig) -> Bus:
        if ic.mux is None or ic.mux_channel is None:
            return self.buses[ic.bus]
        return self.muxes[ic.mux].channel(ic.mux_channel)

    def _interrupt(self, ic: IcConfig) -> InputLine | None:
        if ic.interrupt_gpio is None:
            return None
        return self._line(f"interrupt of {ic.name}", ic.interrupt_gpio, active_low=True)

    def _line(self, name: str, gpio: int, active_low: bool) -> InputLine:
        line = InputLine(name, self._backend.pin_factory(), gpio, active_low, pull_up=True)
        self._opened.callback(line.close)
        return line
