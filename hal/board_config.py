"""The hardware of one table as its file describes it: parsed strictly, then never changed.

It knows every key of the [board] table and its range; what the parts must agree on is checked in
`hal.board_checks`. It opens nothing and does not know what the table plays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hal.board_checks import check_board, refuse_repeats
from hal.chip_kinds import (
    ADDRESSES,
    ALL_CALL_ADDRESS,
    ELECTRODE_MAX,
    KEY_PIN_MAX,
    KINDS,
    LAMP_CHANNEL_MAX,
    MPR121,
    PCA9685,
)
from hal.config_table import ConfigTable

BUS_NUMBER_MAX = 32
GPIO_MAX = 27
SENSOR_ID = re.compile(r"([1-9][0-9]?)([AB])")

TOUCH_THRESHOLD = 12
RELEASE_THRESHOLD = 6
CHARGE_CURRENT_MICROAMPS = 16


@dataclass(frozen=True)
class BusConfig:
    number: int
    frequency_hz: int


@dataclass(frozen=True)
class ChipConfig:
    name: str
    kind: str
    bus: int
    address: int
    interrupt_gpio: int | None = None
    charge_current_microamps: int = CHARGE_CURRENT_MICROAMPS


@dataclass(frozen=True)
class SensorConfig:
    id: str
    seat: int
    letter: str
    chip: str
    electrode: int
    lamp_chip: str
    white_channel: int
    amber_channel: int
    touch_threshold: int = TOUCH_THRESHOLD
    release_threshold: int = RELEASE_THRESHOLD


@dataclass(frozen=True)
class KeypadConfig:
    chip: str
    keys: Mapping[str, int]


@dataclass(frozen=True)
class KeyswitchConfig:
    run_gpio: int
    jph_gpio: int


@dataclass(frozen=True)
class TamperConfig:
    gpio: int


@dataclass(frozen=True)
class CardReaderConfig:
    path: str


@dataclass(frozen=True)
class BoardConfig:
    backend: str
    serial: str
    buses: tuple[BusConfig, ...]
    chips: tuple[ChipConfig, ...]
    sensors: tuple[SensorConfig, ...]
    keypad: KeypadConfig | None = None
    keyswitch: KeyswitchConfig | None = None
    tamper: TamperConfig | None = None
    card_reader: CardReaderConfig | None = None

    def chip(self, name: str) -> ChipConfig:
        return next(chip for chip in self.chips if chip.name == name)

    def sensors_on(self, chip_name: str) -> tuple[SensorConfig, ...]:
        return tuple(sensor for sensor in self.sensors if sensor.chip == chip_name)


def parse_board(table: Mapping[str, Any]) -> BoardConfig:
    """Parses the [board] table of a table's file, or raises ConfigError with the key's path."""
    board = ConfigTable("board", table)
    config = BoardConfig(
        backend=board.text("backend"),
        serial=board.text("serial"),
        buses=tuple(_bus(row) for row in board.rows("buses")),
        chips=tuple(_chip(row) for row in board.rows("chips")),
        sensors=tuple(_sensor(row) for row in board.rows("sensors")),
        keypad=_keypad(board.section("keypad")),
        keyswitch=_keyswitch(board.section("keyswitch")),
        tamper=_tamper(board.section("tamper")),
        card_reader=_card_reader(board.section("card_reader")),
    )
    board.finish()
    check_board(config)
    return config


def _bus(row: ConfigTable) -> BusConfig:
    bus = BusConfig(
        number=row.number("number", 0, BUS_NUMBER_MAX),
        frequency_hz=row.number("frequency_hz", 10_000, 1_000_000),
    )
    row.finish()
    return bus


def _chip(row: ConfigTable) -> ChipConfig:
    name = row.text("name")
    kind = row.choice("kind", KINDS)
    address = row.number("address", *ADDRESSES[kind])
    if address == ALL_CALL_ADDRESS:
        raise row.refuse("address", "0x70 is where every lamp chip listens after power-up.")
    interrupt_gpio = None
    if kind != PCA9685 and row.has("interrupt_gpio"):
        interrupt_gpio = row.number("interrupt_gpio", 0, GPIO_MAX)
    current = CHARGE_CURRENT_MICROAMPS
    if kind == MPR121:
        current = row.number("charge_current_microamps", 1, 63, CHARGE_CURRENT_MICROAMPS)
    bus = row.number("bus", 0, BUS_NUMBER_MAX)
    row.finish()
    return ChipConfig(name, kind, bus, address, interrupt_gpio, current)


def _sensor(row: ConfigTable) -> SensorConfig:
    sensor_id = row.text("id")
    parts = SENSOR_ID.fullmatch(sensor_id)
    if parts is None:
        raise row.refuse("id", f'"{sensor_id}" is not a seat number followed by A or B.')
    touch = row.number("touch_threshold", 2, 255, TOUCH_THRESHOLD)
    # Below the touch threshold, or a chip at the edge of the spot would flicker.
    release = row.number("release_threshold", 1, touch - 1, min(RELEASE_THRESHOLD, touch - 1))
    sensor = SensorConfig(
        id=sensor_id,
        seat=int(parts.group(1)),
        letter=parts.group(2),
        chip=row.text("chip"),
        electrode=row.number("electrode", 0, ELECTRODE_MAX),
        lamp_chip=row.text("lamp_chip"),
        white_channel=row.number("white_channel", 0, LAMP_CHANNEL_MAX),
        amber_channel=row.number("amber_channel", 0, LAMP_CHANNEL_MAX),
        touch_threshold=touch,
        release_threshold=release,
    )
    row.finish()
    return sensor


def _keypad(section: ConfigTable | None) -> KeypadConfig | None:
    if section is None:
        return None
    chip = section.text("chip")
    keys = section.section("keys")
    if keys is None or not keys.names():
        raise section.refuse("keys", "must name at least one key and its pin.")
    pins = {name: keys.number(name, 0, KEY_PIN_MAX) for name in keys.names()}
    for name in pins:
        if not name.isprintable() or name != name.strip() or not name:
            raise keys.refuse(name, "a key's name has no spaces around it and is printable.")
    refuse_repeats(keys.path, ((f"pin {pin}", name) for name, pin in pins.items()))
    section.finish()
    return KeypadConfig(chip, pins)


def _keyswitch(section: ConfigTable | None) -> KeyswitchConfig | None:
    if section is None:
        return None
    keyswitch = KeyswitchConfig(
        run_gpio=section.number("run_gpio", 0, GPIO_MAX),
        jph_gpio=section.number("jph_gpio", 0, GPIO_MAX),
    )
    section.finish()
    return keyswitch


def _tamper(section: ConfigTable | None) -> TamperConfig | None:
    if section is None:
        return None
    tamper = TamperConfig(gpio=section.number("gpio", 0, GPIO_MAX))
    section.finish()
    return tamper


def _card_reader(section: ConfigTable | None) -> CardReaderConfig | None:
    if section is None:
        return None
    path = section.text("path", characters_max=255)
    if not path.startswith("/"):
        raise section.refuse("path", f'"{path}" is not an absolute path.')
    section.finish()
    return CardReaderConfig(path)
