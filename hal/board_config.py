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
    CAPDAC_MAX,
    ELECTRODE_MAX,
    FDC1004,
    KEY_PIN_MAX,
    KINDS,
    LAMP_CHANNEL_MAX,
    MPR121,
    MUX_CHANNEL_MAX,
    MUXED_KINDS,
    TCA9555,
    TOUCH_THRESHOLDS,
)
from hal.config_table import ConfigTable

BUS_NUMBER_MAX = 32
GPIO_MAX = 27
SENSOR_ID = re.compile(r"([1-9][0-9]?)([AB])")

TOUCH_THRESHOLD, RELEASE_THRESHOLD, _ = TOUCH_THRESHOLDS[MPR121]
CHARGE_CURRENT_MICROAMPS = 16


@dataclass(frozen=True)
class RecoveryConfig:
    """The bus's own two pins, so that a held data line can be clocked free."""

    scl_gpio: int
    sda_gpio: int


@dataclass(frozen=True)
class BusConfig:
    number: int
    frequency_hz: int
    recovery: RecoveryConfig | None = None
    # Driven low it takes the supply from every chip of this bus; released, they have it.
    supply_gpio: int | None = None


@dataclass(frozen=True)
class ChipConfig:
    name: str
    kind: str
    bus: int
    address: int
    interrupt_gpio: int | None = None
    charge_current_microamps: int = CHARGE_CURRENT_MICROAMPS
    # FDC1004: steps of 3.125 pF that the chip takes off before it measures.
    capdac: int = 0
    mux: str | None = None
    mux_channel: int | None = None

    @property
    def place(self) -> str:
        """Where its address counts: the bus, or one channel of a multiplexer on it."""
        if self.mux is None:
            return f"bus {self.bus}"
        return f"channel {self.mux_channel} of {self.mux} on bus {self.bus}"


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
    backend, serial = board.text("backend"), board.text("serial")
    buses = tuple(_bus(row) for row in board.rows("buses"))
    chips = tuple(_chip(row) for row in board.rows("chips"))
    kinds = {chip.name: chip.kind for chip in chips}
    config = BoardConfig(
        backend=backend,
        serial=serial,
        buses=buses,
        chips=chips,
        sensors=tuple(_sensor(row, kinds) for row in board.rows("sensors")),
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
        recovery=_recovery(row.section("recovery")),
        supply_gpio=_gpio_if_there(row, "supply_gpio"),
    )
    row.finish()
    return bus


def _recovery(section: ConfigTable | None) -> RecoveryConfig | None:
    if section is None:
        return None
    recovery = RecoveryConfig(
        scl_gpio=section.number("scl_gpio", 0, GPIO_MAX),
        sda_gpio=section.number("sda_gpio", 0, GPIO_MAX),
    )
    section.finish()
    return recovery


def _chip(row: ConfigTable) -> ChipConfig:
    name, kind = row.text("name"), row.choice("kind", KINDS)
    chip = ChipConfig(
        name=name,
        kind=kind,
        bus=row.number("bus", 0, BUS_NUMBER_MAX),
        address=row.number("address", *ADDRESSES[kind]),
        interrupt_gpio=_gpio_if_there(row, "interrupt_gpio") if kind in (MPR121, TCA9555) else None,
        charge_current_microamps=row.number(
            "charge_current_microamps", 1, 63, CHARGE_CURRENT_MICROAMPS
        )
        if kind == MPR121
        else CHARGE_CURRENT_MICROAMPS,
        capdac=row.number("capdac", 0, CAPDAC_MAX, 0) if kind == FDC1004 else 0,
        **_mux_place(row) if kind in MUXED_KINDS else {},
    )
    row.finish()
    return chip


def _mux_place(row: ConfigTable) -> dict[str, Any]:
    """Both keys or none; without them the chip sits on the bus itself."""
    if not row.has("mux") and not row.has("mux_channel"):
        return {}
    return {
        "mux": row.text("mux"),
        "mux_channel": row.number("mux_channel", 0, MUX_CHANNEL_MAX),
    }


def _gpio_if_there(row: ConfigTable, key: str) -> int | None:
    return row.number(key, 0, GPIO_MAX) if row.has(key) else None


def _sensor(row: ConfigTable, kinds: Mapping[str, str]) -> SensorConfig:
    sensor_id = row.text("id")
    parts = SENSOR_ID.fullmatch(sensor_id)
    if parts is None:
        raise row.refuse("id", f'"{sensor_id}" is not a seat number followed by A or B.')
    chip = row.text("chip")
    touch, release = _thresholds(row, kinds.get(chip, MPR121))
    sensor = SensorConfig(
        id=sensor_id,
        seat=int(parts.group(1)),
        letter=parts.group(2),
        chip=chip,
        electrode=row.number("electrode", 0, ELECTRODE_MAX),
        lamp_chip=row.text("lamp_chip"),
        white_channel=row.number("white_channel", 0, LAMP_CHANNEL_MAX),
        amber_channel=row.number("amber_channel", 0, LAMP_CHANNEL_MAX),
        touch_threshold=touch,
        release_threshold=release,
    )
    row.finish()
    return sensor


def _thresholds(row: ConfigTable, kind: str) -> tuple[int, int]:
    """In the units of the sensor's chip. A chip of another kind is refused later, by name."""
    default_touch, default_release, most = TOUCH_THRESHOLDS.get(kind, TOUCH_THRESHOLDS[MPR121])
    touch = row.number("touch_threshold", 2, most, default_touch)
    # Below the touch threshold, or a chip at the edge of the spot would flicker.
    release = row.number("release_threshold", 1, touch - 1, min(default_release, touch - 1))
    return touch, release


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
