"""The hardware of one table as its file describes it: read strictly, then never changed.

It knows every key of the [board] table and its range; what the parts must agree on is checked in
`hal.board.checks`. It opens nothing and does not know what the table plays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from hal.board.checks import check_board, refuse_repeats
from hal.ics.kinds import (
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
from kit.config import (
    Choice,
    Complaint,
    Document,
    Name,
    Named,
    Rows,
    Table,
    Text,
    Unfit,
    Value,
    Whole,
    read,
    shown,
)

BUS_NUMBER = Whole(0, 32)
GPIO = Whole(0, 27)
LAMP_CHANNEL = Whole(0, LAMP_CHANNEL_MAX)
ADDRESS_MAX = 127
SENSOR_ID = re.compile(r"([1-9][0-9]?)([AB])")

CHARGE_CURRENT_MICROAMPS = 16
THRESHOLD_MAX = max(most for _, _, most in TOUCH_THRESHOLDS.values())

# Beside these, what only some kinds of IC have.
IC_KEYS = ("name", "kind", "bus", "address")
KEYS_OF_KINDS = {
    "interrupt_gpio": (MPR121, TCA9555),
    "charge_current_microamps": (MPR121,),
    "capdac": (FDC1004,),
    "mux": MUXED_KINDS,
    "mux_channel": MUXED_KINDS,
}


class SensorId(Value):
    """A seat number and the letter of the sensor at that seat."""

    def take(self, value: object) -> str:
        if not isinstance(value, str) or not SENSOR_ID.fullmatch(value):
            raise Unfit(f"{shown(value)} is not a seat number followed by A or B.")
        return value


class AbsolutePath(Value):
    def take(self, value: object) -> str:
        text = Text(bytes_max=255).take(value)
        if not text.startswith("/"):
            raise Unfit(f"{shown(text)} is not an absolute path.")
        return text


BAUD = 9600
BAUD_RATES = (1200, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200)
# Data bits, parity (none, even, odd), stop bits, as a reader's manual writes it.
FRAMING = "8N1"
FRAMINGS = tuple(f"{bits}{parity}{stops}" for bits in "78" for parity in "NEO" for stops in "12")


class BaudRate(Value):
    def take(self, value: object) -> int:
        rate = Whole(BAUD_RATES[0], BAUD_RATES[-1]).take(value)
        if rate not in BAUD_RATES:
            known = ", ".join(str(each) for each in BAUD_RATES)
            raise Unfit(f"{rate} is not a known rate; known are {known}.")
        return rate


@dataclass(frozen=True)
class RecoveryConfig:
    """The bus's own two pins, so that a held data line can be clocked free."""

    scl_gpio: Annotated[int, GPIO]
    sda_gpio: Annotated[int, GPIO]


@dataclass(frozen=True)
class BusConfig:
    number: Annotated[int, BUS_NUMBER]
    frequency_hz: Annotated[int, Whole(10_000, 1_000_000)]
    recovery: Annotated[RecoveryConfig | None, Table(RecoveryConfig)] = None
    # Driven low it takes the supply from every IC of this bus; released, they have it.
    supply_gpio: Annotated[int | None, GPIO] = None


@dataclass(frozen=True)
class IcConfig:
    name: Annotated[str, Text()]
    kind: Annotated[str, Choice(KINDS)]
    bus: Annotated[int, BUS_NUMBER]
    address: Annotated[int, Whole(0, ADDRESS_MAX)]
    interrupt_gpio: Annotated[int | None, GPIO] = None
    charge_current_microamps: Annotated[int, Whole(1, 63)] = CHARGE_CURRENT_MICROAMPS
    # FDC1004: steps of 3.125 pF that the IC takes off before it measures.
    capdac: Annotated[int, Whole(0, CAPDAC_MAX)] = 0
    mux: Annotated[str | None, Text()] = None
    mux_channel: Annotated[int | None, Whole(0, MUX_CHANNEL_MAX)] = None

    @property
    def place(self) -> str:
        """Where its address counts: the bus, or one channel of a multiplexer on it."""
        if self.mux is None:
            return f"bus {self.bus}"
        return f"channel {self.mux_channel} of {self.mux} on bus {self.bus}"

    @staticmethod
    def keys_for(values: Mapping[str, Any]) -> tuple[str, ...]:
        """Which keys an IC has depends on its kind; an unknown kind is refused by itself."""
        kind = values.get("kind")
        if kind not in KINDS:
            return (*IC_KEYS, *KEYS_OF_KINDS)
        return (*IC_KEYS, *(key for key, kinds in KEYS_OF_KINDS.items() if kind in kinds))

    def check(self) -> Iterator[Complaint]:
        yield from _out_of_range("address", self.address, *ADDRESSES[self.kind])
        # Both or none; without them the IC sits on the bus itself.
        if self.mux is None and self.mux_channel is not None:
            yield ("mux",), "is missing."
        if self.mux is not None and self.mux_channel is None:
            yield ("mux_channel",), "is missing."


@dataclass(frozen=True)
class SensorConfig:
    id: Annotated[str, SensorId()]
    ic: Annotated[str, Text()]
    electrode: Annotated[int, Whole(0, ELECTRODE_MAX)]
    lamp_ic: Annotated[str, Text()]
    white_channel: Annotated[int, LAMP_CHANNEL]
    amber_channel: Annotated[int, LAMP_CHANNEL]
    # In the units of the sensor's IC; 0 until the board it is on gives it those of its kind.
    touch_threshold: Annotated[int, Whole(2, THRESHOLD_MAX)] = 0
    release_threshold: Annotated[int, Whole(1, THRESHOLD_MAX)] = 0

    @property
    def seat(self) -> int:
        return int(self.id[:-1])

    @property
    def letter(self) -> str:
        return self.id[-1]

    def with_thresholds(self, kind: str) -> SensorConfig:
        usual_touch, usual_release, _ = _thresholds_of(kind)
        touch = self.touch_threshold or usual_touch
        return replace(
            self,
            touch_threshold=touch,
            release_threshold=self.release_threshold or min(usual_release, touch - 1),
        )


@dataclass(frozen=True)
class KeypadConfig:
    ic: Annotated[str, Text()]
    keys: Annotated[Mapping[str, int], Named(Whole(0, KEY_PIN_MAX))]

    def check(self) -> Iterator[Complaint]:
        pins = ((f"pin {pin}", name) for name, pin in self.keys.items())
        yield from refuse_repeats(("keys",), pins)


@dataclass(frozen=True)
class TextDisplayConfig:
    ic: Annotated[str, Text()]


@dataclass(frozen=True)
class KeyswitchConfig:
    run_gpio: Annotated[int, GPIO]
    jph_gpio: Annotated[int, GPIO]


@dataclass(frozen=True)
class TamperConfig:
    gpio: Annotated[int, GPIO]


@dataclass(frozen=True)
class CardReaderConfig:
    """A reader on USB takes any rate; one on a serial line has its own, and its own framing."""

    path: Annotated[str, AbsolutePath()]
    baud: Annotated[int, BaudRate()] = BAUD
    framing: Annotated[str, Choice(FRAMINGS)] = FRAMING


@dataclass(frozen=True)
class ShufflerConfig:
    path: Annotated[str, AbsolutePath()]


@dataclass(frozen=True)
class BoardConfig:
    backend: Annotated[str, Text()]
    # The unit's name: the manager certifies it and reads it from the same key.
    serial: Annotated[str, Name()]
    buses: Annotated[tuple[BusConfig, ...], Rows(BusConfig, 1)]
    ics: Annotated[tuple[IcConfig, ...], Rows(IcConfig, 1)]
    sensors: Annotated[tuple[SensorConfig, ...], Rows(SensorConfig, 1)]
    keypad: Annotated[KeypadConfig | None, Table(KeypadConfig)] = None
    text_display: Annotated[TextDisplayConfig | None, Table(TextDisplayConfig)] = None
    keyswitch: Annotated[KeyswitchConfig | None, Table(KeyswitchConfig)] = None
    tamper: Annotated[TamperConfig | None, Table(TamperConfig)] = None
    card_reader: Annotated[CardReaderConfig | None, Table(CardReaderConfig)] = None
    shuffler: Annotated[ShufflerConfig | None, Table(ShufflerConfig)] = None

    def __post_init__(self) -> None:
        kinds = self._kinds()
        sensors = tuple(each.with_thresholds(kinds.get(each.ic, MPR121)) for each in self.sensors)
        object.__setattr__(self, "sensors", sensors)

    def ic(self, name: str) -> IcConfig:
        return next(ic for ic in self.ics if ic.name == name)

    def sensors_on(self, ic_name: str) -> tuple[SensorConfig, ...]:
        return tuple(sensor for sensor in self.sensors if sensor.ic == ic_name)

    def check(self) -> Iterator[Complaint]:
        kinds = self._kinds()
        for place, each in enumerate(self.sensors):
            most = _thresholds_of(kinds.get(each.ic, MPR121))[2]
            ranges = (
                ("touch_threshold", each.touch_threshold, 2, most),
                # Below the touch threshold, or a chip at the edge of the spot would flicker.
                ("release_threshold", each.release_threshold, 1, each.touch_threshold - 1),
            )
            for key, value, low, high in ranges:
                for below, sentence in _out_of_range(key, value, low, high):
                    yield ("sensors", place, *below), sentence
        yield from check_board(self)

    def _kinds(self) -> dict[str, str]:
        return {ic.name: ic.kind for ic in self.ics}


def parse_board(values: Mapping[str, Any]) -> BoardConfig:
    """Reads the [board] table of a table's file by itself."""
    return read(Document(values), BoardConfig, path=("board",))


def _thresholds_of(kind: str) -> tuple[int, int, int]:
    """Usual touch, usual release, most. An IC that does not sense is refused later, by name."""
    return TOUCH_THRESHOLDS.get(kind, TOUCH_THRESHOLDS[MPR121])


def _out_of_range(key: str, value: int, low: int, high: int) -> Iterator[Complaint]:
    try:
        Whole(low, high).take(value)
    except Unfit as unfit:
        yield (key,), str(unfit)
