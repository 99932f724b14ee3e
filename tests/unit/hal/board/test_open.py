"""A board opens every part its file names, wires them together, and releases all of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import gpiozero
import pytest
from gpiozero.pins.mock import MockFactory

from hal.board.config import (
    BoardConfig,
    BusConfig,
    CardReaderConfig,
    IcConfig,
    KeypadConfig,
    KeyswitchConfig,
    SensorConfig,
    TamperConfig,
)
from hal.board.open import Board, SensorPlace
from hal.bus.i2c import SMBusLike
from hal.bus.recovery import OpenDrainLine
from hal.errors import HardwareFault
from hal.ics.mpr121 import Mpr121
from hal.worker import InlineWorker, Worker
from sim.time.loop import run_virtual

CONFIG = BoardConfig(
    backend="raspberry-pi",
    serial="UF-0009",
    buses=(BusConfig(1, 400_000),),
    ics=(
        IcConfig("sense-1", "mpr121", 1, 0x5A, interrupt_gpio=17),
        IcConfig("lights-1", "pca9685", 1, 0x40),
        IcConfig("keys-1", "tca9555", 1, 0x20, interrupt_gpio=27),
    ),
    sensors=(
        SensorConfig("1A", "sense-1", 1, "lights-1", 0, 1, 20, 8),
        SensorConfig("2A", "sense-1", 0, "lights-1", 2, 3),
    ),
    keypad=KeypadConfig("keys-1", {"START": 0}),
    keyswitch=KeyswitchConfig(22, 23),
    tamper=TamperConfig(24),
    card_reader=CardReaderConfig("/dev/ttyACM0"),
)


class BenchBackend:
    """Registers for a bus, mock pins, and a note of what was asked for."""

    name = "bench"

    def __init__(self, smbus: Any, factory: MockFactory) -> None:
        self.smbus = smbus
        self.worker = InlineWorker("i2c-1")
        self.asked: list[object] = []
        self._factory = factory

    def open_i2c(self, number: int, frequency_hz: int) -> tuple[SMBusLike, Worker]:
        self.asked.append((number, frequency_hz))
        return self.smbus, self.worker

    def pin_factory(self) -> gpiozero.Factory:
        return self._factory

    def serial_path(self, path: str) -> str:
        self.asked.append(path)
        return path

    def disk_worker(self, name: str = "disk") -> Worker:
        return InlineWorker(name)


@pytest.fixture
def backend(smbus: Any, pin_factory: MockFactory) -> BenchBackend:
    return BenchBackend(smbus, pin_factory)


class SupplyBackend(BenchBackend):
    """Notes what becomes of the supply's line; it was left low."""

    def open_drain(self, gpio: int) -> OpenDrainLine:
        self.asked.append(f"GPIO {gpio}")
        return SupplyLine(self.asked)


class SupplyLine(OpenDrainLine):
    def __init__(self, asked: list[object]) -> None:
        self._asked = asked

    def release(self) -> None:
        self._asked.append("release")

    def close(self) -> None:
        self._asked.append("close")


def test_a_board_switches_its_supply_on(smbus: Any, pin_factory: MockFactory) -> None:
    backend = SupplyBackend(smbus, pin_factory)
    switched = dataclasses.replace(CONFIG, buses=(BusConfig(1, 400_000, supply_gpio=4),))
    Board.from_config(switched, backend).close()  # type: ignore[arg-type]
    assert backend.asked[1:4] == ["GPIO 4", "release", "close"]


def test_every_part_is_there(backend: BenchBackend) -> None:
    board = Board.from_config(CONFIG, backend)
    assert board.serial == "UF-0009"
    assert board.sensors == [
        SensorPlace("1A", 1, "A", "sense-1", 1),
        SensorPlace("2A", 2, "A", "sense-1", 0),
    ]
    assert list(board.ics) == ["sense-1"]
    assert board.ics["sense-1"].electrode_count == 2
    assert board.ics["sense-1"].interrupt is not None
    assert None not in (board.keypad, board.keyswitch, board.tamper, board.card_reader)
    assert backend.asked == [(1, 400_000), "/dev/ttyACM0"]
    board.close()


def test_thresholds_follow_the_electrodes_not_the_seats(backend: BenchBackend, smbus: Any) -> None:
    board = Board.from_config(CONFIG, backend)
    ic = board.ics["sense-1"]
    assert isinstance(ic, Mpr121)
    smbus.on_write = lambda register, value: (
        register == 0x80 and smbus.registers.__setitem__(0x5D, 0x24)
    )
    run_virtual(ic.start([600, 600]))
    assert (0x41, bytes([12, 6, 20, 8])) in smbus.writes
    board.close()


def test_lamps_go_to_the_channels_of_their_sensor(backend: BenchBackend, smbus: Any) -> None:
    board = Board.from_config(CONFIG, backend)
    run_virtual(board.start_lamps())
    run_virtual(board.lamps.set({("2A", "amber"): 4095}))
    assert smbus.writes[-1] == (0x06 + 4 * 3, b"\x00\x10\x00\x00")
    board.close()


def test_lines_have_the_sense_the_wiring_gives_them(
    backend: BenchBackend, pin_factory: MockFactory
) -> None:
    board = Board.from_config(CONFIG, backend)
    assert board.tamper is not None
    assert board.tamper.active, "a cut wire must look like an opened lid"
    pin_factory.pin(24).drive_low()
    assert not board.tamper.active
    assert board.keyswitch is not None
    pin_factory.pin(22).drive_low()
    assert board.keyswitch.position == "RUN"
    interrupt = board.ics["sense-1"].interrupt
    assert interrupt is not None
    assert not interrupt.active
    pin_factory.pin(17).drive_low()
    assert interrupt.active
    board.close()


def test_close_releases_everything(backend: BenchBackend, smbus: Any) -> None:
    board = Board.from_config(CONFIG, backend)
    board.close()
    assert smbus.closed
    again = BenchBackend(smbus, backend._factory)
    Board.from_config(CONFIG, again).close()
    with pytest.raises(HardwareFault, match="was closed"):
        run_virtual(board.start_lamps())


def test_a_board_that_cannot_open_leaves_nothing_open(
    backend: BenchBackend, smbus: Any, pin_factory: MockFactory
) -> None:
    taken = gpiozero.InputDevice(24, pin_factory=pin_factory)
    with pytest.raises(HardwareFault, match="GPIO 24 for tamper switch"):
        Board.from_config(CONFIG, backend)
    assert smbus.closed
    taken.close()
    Board.from_config(CONFIG, BenchBackend(smbus, pin_factory)).close()


def test_a_touch_table_has_no_keypad_and_no_key(backend: BenchBackend) -> None:
    config = BoardConfig(
        CONFIG.backend, CONFIG.serial, CONFIG.buses, CONFIG.ics[:2], CONFIG.sensors
    )
    board = Board.from_config(config, backend)
    assert (board.keypad, board.keyswitch, board.tamper, board.card_reader) == (None,) * 4
    board.close()
