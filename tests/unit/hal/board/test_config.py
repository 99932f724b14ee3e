"""A board file is taken whole or refused with the path of the key that is wrong."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hal.board.config import CardReaderConfig, parse_board
from kit.config import ConfigError
from tests.kit.places import TABLES

BOARD = tomllib.loads(
    """
    backend = "raspberry-pi"
    serial = "UF-0001"
    buses = [{ number = 1, frequency_hz = 400000 }]
    ics = [
        { name = "sense-1", kind = "mpr121", bus = 1, address = 0x5A, interrupt_gpio = 17 },
        { name = "lights-1", kind = "pca9685", bus = 1, address = 0x40 },
        { name = "keys-1", kind = "tca9555", bus = 1, address = 0x20, interrupt_gpio = 27 },
    ]
    [[sensors]]
    id = "1A"
    ic = "sense-1"
    electrode = 0
    lamp_ic = "lights-1"
    white_channel = 0
    amber_channel = 1
    [[sensors]]
    id = "12B"
    ic = "sense-1"
    electrode = 1
    lamp_ic = "lights-1"
    white_channel = 2
    amber_channel = 3
    [keypad]
    ic = "keys-1"
    keys = { START = 0, "SEAT 1" = 8 }
    [keyswitch]
    run_gpio = 22
    jph_gpio = 23
    [tamper]
    gpio = 24
    [card_reader]
    path = "/dev/ttyACM0"
    """
)

# Two converters of one address behind a multiplexer, and every way to free their bus.
MUXED = tomllib.loads(
    """
    backend = "raspberry-pi"
    serial = "UF-0002"
    [[buses]]
    number = 1
    frequency_hz = 400000
    recovery = { scl_gpio = 3, sda_gpio = 2 }
    supply_gpio = 4
    [[ics]]
    name = "sense-1"
    kind = "fdc1004"
    bus = 1
    address = 0x50
    mux = "mux-1"
    mux_channel = 0
    [[ics]]
    name = "sense-2"
    kind = "fdc1004"
    bus = 1
    address = 0x50
    mux = "mux-1"
    mux_channel = 7
    capdac = 31
    [[ics]]
    name = "mux-1"
    kind = "tca9548a"
    bus = 1
    address = 0x71
    [[ics]]
    name = "lights-1"
    kind = "pca9685"
    bus = 1
    address = 0x40
    [[sensors]]
    id = "1A"
    ic = "sense-1"
    electrode = 0
    lamp_ic = "lights-1"
    white_channel = 0
    amber_channel = 1
    [[sensors]]
    id = "2A"
    ic = "sense-2"
    electrode = 0
    lamp_ic = "lights-1"
    white_channel = 2
    amber_channel = 3
    touch_threshold = 900
    """
)

Change = Callable[[dict[str, Any]], object]


def changed(change: Change, original: dict[str, Any] = BOARD) -> dict[str, Any]:
    board = copy.deepcopy(original)
    change(board)
    return board


def test_everything_in_the_file_is_in_the_board() -> None:
    board = parse_board(BOARD)
    assert (board.backend, board.serial) == ("raspberry-pi", "UF-0001")
    assert (board.buses[0].number, board.buses[0].frequency_hz) == (1, 400_000)
    assert [ic.address for ic in board.ics] == [0x5A, 0x40, 0x20]
    assert [ic.interrupt_gpio for ic in board.ics] == [17, None, 27]
    second = board.sensors[1]
    assert (second.id, second.seat, second.letter, second.electrode) == ("12B", 12, "B", 1)
    assert (second.lamp_ic, second.white_channel, second.amber_channel) == ("lights-1", 2, 3)
    assert (second.touch_threshold, second.release_threshold) == (12, 6)
    assert board.keypad is not None
    assert dict(board.keypad.keys) == {"START": 0, "SEAT 1": 8}
    assert board.keyswitch is not None
    assert (board.keyswitch.run_gpio, board.keyswitch.jph_gpio) == (22, 23)
    assert board.tamper is not None
    assert board.tamper.gpio == 24
    assert board.card_reader is not None
    assert board.card_reader == CardReaderConfig("/dev/ttyACM0", 9600, "8N1")


def test_optional_parts_may_be_missing() -> None:
    def strip(board: dict[str, Any]) -> None:
        for part in ("keypad", "keyswitch", "tamper", "card_reader"):
            del board[part]
        del board["ics"][2]
        del board["ics"][0]["interrupt_gpio"]

    board = parse_board(changed(strip))
    assert (board.keypad, board.keyswitch, board.tamper, board.card_reader) == (None,) * 4
    assert board.ics[0].interrupt_gpio is None


def test_a_sensor_may_have_its_own_thresholds() -> None:
    board = parse_board(changed(lambda b: b["sensors"][0].update(touch_threshold=4)))
    assert (board.sensors[0].touch_threshold, board.sensors[0].release_threshold) == (4, 3)


@pytest.mark.parametrize("table", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_tables_that_ship_are_accepted(table: Path) -> None:
    document = tomllib.loads(table.read_text(encoding="utf-8"))
    seats = range(1, document["table"]["seats"] + 1)
    wanted = [f"{seat}{letter}" for letter in document["paytables"] for seat in seats]
    assert [sensor.id for sensor in parse_board(document["board"]).sensors] == wanted


REFUSALS: list[tuple[str, Change]] = [
    ("board.colour: is not a key", lambda b: b.update(colour="green")),
    ("board.serial: is missing", lambda b: b.pop("serial")),
    ("board.serial: must be 1 to 32 letters", lambda b: b.update(serial="")),
    ("board.serial: must be 1 to 32 letters", lambda b: b.update(serial=7)),
    ("board.serial: must be 1 to 32 letters", lambda b: b.update(serial=" UF")),
    ("board.buses: must be one or more", lambda b: b.update(buses=[])),
    ("board.ics: must be an array of tables", lambda b: b.update(ics={"name": "x"})),
    (r"board.buses\[1\]: must be a table", lambda b: b.update(buses=[1])),
    (r"board.buses\[1\].speed: is not a key", lambda b: b["buses"][0].update(speed=1)),
    (r"board.buses\[1\].number: must be a whole", lambda b: b["buses"][0].update(number=True)),
    (r"board.buses\[1\].number: must be a whole", lambda b: b["buses"][0].update(number=1.0)),
    (r"frequency_hz: 5 is not between", lambda b: b["buses"][0].update(frequency_hz=5)),
    ("board.buses: bus 1 is there twice", lambda b: b["buses"].append(dict(b["buses"][0]))),
    (
        "board.buses: no IC is on bus 3",
        lambda b: b["buses"].append({"number": 3, "frequency_hz": 100_000}),
    ),
    (
        "sense-1 follows 400000 Hz at most",
        lambda b: b["buses"][0].update(frequency_hz=1_000_000),
    ),
    (
        r'board.ics\[1\].kind: "mpr122" is not known',
        lambda b: b["ics"][0].update(kind="mpr122"),
    ),
    (r"board.ics\[1\].address: 64 is not", lambda b: b["ics"][0].update(address=0x40)),
    ("lights-1 cannot have address 0x70", lambda b: b["ics"][1].update(address=0x70)),
    (r"board.ics\[2\].address: 120 is not", lambda b: b["ics"][1].update(address=0x78)),
    (r"ics\[2\].interrupt_gpio: is not a key", lambda b: b["ics"][1].update(interrupt_gpio=5)),
    (r"ics\[1\].interrupt_gpio: 28 is not", lambda b: b["ics"][0].update(interrupt_gpio=28)),
    ("is on bus 4, which is not there", lambda b: b["ics"][0].update(bus=4)),
    (
        "sense-1 and lights-1 both have address 0x5A on bus 1",
        lambda b: b["ics"][1].update(address=0x5A),
    ),
    ('the name "sense-1" is there twice', lambda b: b["ics"][1].update(name="sense-1")),
    (
        "nothing uses sense-2",
        lambda b: b["ics"].append({"name": "sense-2", "kind": "mpr121", "bus": 1, "address": 0x5B}),
    ),
    ("board.sensors: must be one or more", lambda b: b.update(sensors=[])),
    (r'board.sensors\[1\].id: "A1" is not', lambda b: b["sensors"][0].update(id="A1")),
    (r'board.sensors\[1\].id: "1C" is not', lambda b: b["sensors"][0].update(id="1C")),
    (r'board.sensors\[1\].id: "01A" is not', lambda b: b["sensors"][0].update(id="01A")),
    ('the id "1A" is there twice', lambda b: b["sensors"][1].update(id="1A")),
    (r"sensors\[2\].electrode: 12 is not", lambda b: b["sensors"][1].update(electrode=12)),
    ("both have electrode 0 of sense-1", lambda b: b["sensors"][1].update(electrode=0)),
    (r"are \[0, 2\]; they must be counted from 0", lambda b: b["sensors"][1].update(electrode=2)),
    (
        "1A amber and 12B white both have channel 1 of lights-1",
        lambda b: b["sensors"][1].update(white_channel=1),
    ),
    ("12B amber both have channel 2", lambda b: b["sensors"][1].update(amber_channel=2)),
    (r"white_channel: 16 is not", lambda b: b["sensors"][1].update(white_channel=16)),
    ('"sense-9", which is not there', lambda b: b["sensors"][1].update(ic="sense-9")),
    (
        'needs a mpr121 or fdc1004, but "lights-1" is',
        lambda b: b["sensors"][1].update(ic="lights-1"),
    ),
    ('needs a pca9685, but "sense-1" is', lambda b: b["sensors"][1].update(lamp_ic="sense-1")),
    (r"release_threshold: 12 is not", lambda b: b["sensors"][0].update(release_threshold=12)),
    ("board.keypad.keys: must have at least one key", lambda b: b["keypad"].update(keys={})),
    ("board.keypad.keys.START: 16 is not", lambda b: b["keypad"]["keys"].update(START=16)),
    ("START and SEAT 1 both have pin 0", lambda b: b["keypad"]["keys"].update({"SEAT 1": 0})),
    (
        r'board.keypad.keys." X": its name has',
        lambda b: b["keypad"]["keys"].update({" X": 3}),
    ),
    ("board.keypad.ic: .* needs a tca9555", lambda b: b["keypad"].update(ic="sense-1")),
    ("board.keypad.rows: is not a key", lambda b: b["keypad"].update(rows=4)),
    ("board.keyswitch.jph_gpio: is missing", lambda b: b["keyswitch"].pop("jph_gpio")),
    ("both have GPIO 22", lambda b: b["keyswitch"].update(jph_gpio=22)),
    ("sense-1's interrupt and the tamper switch", lambda b: b["tamper"].update(gpio=17)),
    ("I2C bus 1 and the tamper switch both have GPIO 2", lambda b: b["tamper"].update(gpio=2)),
    ("board.tamper.level: is not a key", lambda b: b["tamper"].update(level=1)),
    ("board.tamper: must be a table", lambda b: b.update(tamper=24)),
    ("is not an absolute path", lambda b: b["card_reader"].update(path="ttyACM0")),
    ("board.card_reader.speed: is not a key", lambda b: b["card_reader"].update(speed=9600)),
    ("9601 is not a known rate", lambda b: b["card_reader"].update(baud=9601)),
    ("is not between 1200 and 115200", lambda b: b["card_reader"].update(baud=0)),
    ('"8X1" is not known', lambda b: b["card_reader"].update(framing="8X1")),
]


@pytest.mark.parametrize(("sentence", "change"), REFUSALS, ids=[text for text, _ in REFUSALS])
def test_what_is_wrong_is_refused_with_its_path(sentence: str, change: Change) -> None:
    with pytest.raises(ConfigError, match=sentence) as caught:
        parse_board(changed(change))
    assert str(caught.value).startswith("board")
    assert str(caught.value).endswith((".", "?"))


def test_a_multiplexed_board_and_its_recovery_are_in_the_board() -> None:
    board = parse_board(MUXED)
    first, second, mux, _ = board.ics
    assert (first.mux, first.mux_channel, first.capdac) == ("mux-1", 0, 0)
    assert (second.mux, second.mux_channel, second.capdac) == ("mux-1", 7, 31)
    assert (mux.kind, mux.address, mux.mux) == ("tca9548a", 0x71, None)
    (bus,) = board.buses
    assert bus.recovery is not None
    assert (bus.recovery.scl_gpio, bus.recovery.sda_gpio, bus.supply_gpio) == (3, 2, 4)
    assert [(s.touch_threshold, s.release_threshold) for s in board.sensors] == [
        (120, 60),
        (900, 60),
    ]


def test_a_converter_alone_needs_no_multiplexer() -> None:
    def strip(board: dict[str, Any]) -> None:
        del board["ics"][1:3]
        del board["sensors"][1]
        del board["ics"][0]["mux"], board["ics"][0]["mux_channel"]

    assert parse_board(changed(strip, MUXED)).ics[0].mux is None


def test_a_multiplexer_may_have_0x70_where_no_lamp_ic_listens() -> None:
    def apart(board: dict[str, Any]) -> None:
        board["buses"].append({"number": 3, "frequency_hz": 400_000})
        board["ics"][3]["bus"] = 3
        board["ics"][2]["address"] = 0x70

    assert parse_board(changed(apart, MUXED)).ics[2].address == 0x70


def test_an_ic_that_is_always_on_the_bus_may_stand_before_a_mux_with_other_addresses() -> None:
    def add(board: dict[str, Any]) -> None:
        board["ics"].append({"name": "sense-3", "kind": "mpr121", "bus": 1, "address": 0x5A})
        board["sensors"].append(
            {**board["sensors"][0], "id": "3A", "ic": "sense-3", "white_channel": 4}
            | {"amber_channel": 5}
        )

    assert len(parse_board(changed(add, MUXED)).ics) == 5


def _second_mux(board: dict[str, Any]) -> None:
    board["ics"].append({"name": "mux-2", "kind": "tca9548a", "bus": 1, "address": 0x72})
    board["ics"][1].update(mux="mux-2")


def _fifth_electrode(board: dict[str, Any]) -> None:
    for electrode in range(1, 5):
        sensor = dict(board["sensors"][0], id=f"{electrode + 2}A", electrode=electrode)
        board["sensors"].append(
            sensor | {"white_channel": 2 * electrode + 2, "amber_channel": 2 * electrode + 3}
        )


MUX_REFUSALS: list[tuple[str, Change]] = [
    (
        "sense-1 and sense-2 both have address 0x50 on channel 0 of mux-1 on bus 1",
        lambda b: b["ics"][1].update(mux_channel=0),
    ),
    (
        "sense-1 on bus 1 and sense-2 on channel 7 of mux-1 on bus 1 both have address 0x50",
        lambda b: [b["ics"][0].pop(key) for key in ("mux", "mux_channel")],
    ),
    ("both have address 0x50 and could answer at once", _second_mux),
    ("mux-1 cannot have address 0x70: every lamp", lambda b: b["ics"][2].update(address=0x70)),
    (
        "mux-1 and lights-1 both have address 0x71 on bus 1",
        lambda b: b["ics"][3].update(address=0x71),
    ),
    (r"ics\[1\].mux_channel: 8 is not between", lambda b: b["ics"][0].update(mux_channel=8)),
    (r"ics\[1\].mux_channel: is missing", lambda b: b["ics"][0].pop("mux_channel")),
    (r"ics\[1\].mux: is missing", lambda b: b["ics"][0].pop("mux")),
    ('behind "lights-1", which is no tca9548a', lambda b: b["ics"][0].update(mux="lights-1")),
    ('behind "mux-9", which is no tca9548a', lambda b: b["ics"][0].update(mux="mux-9")),
    (
        "sense-1 is on bus 3, but mux-1 is on bus 1",
        lambda b: (
            b["buses"].append({"number": 3, "frequency_hz": 400_000}),
            b["ics"][0].update(bus=3),
        ),
    ),
    (r"ics\[4\].mux: is not a key", lambda b: b["ics"][3].update(mux="mux-1", mux_channel=2)),
    (r"ics\[3\].interrupt_gpio: is not a", lambda b: b["ics"][2].update(interrupt_gpio=5)),
    (r"ics\[1\].interrupt_gpio: is not a", lambda b: b["ics"][0].update(interrupt_gpio=5)),
    (r"ics\[1\].address: 81 is not", lambda b: b["ics"][0].update(address=0x51)),
    (r"ics\[1\].capdac: 32 is not", lambda b: b["ics"][0].update(capdac=32)),
    ("5 sensors are on sense-1; a fdc1004 has 4 electrodes", _fifth_electrode),
    (r"touch_threshold: 20001 is not", lambda b: b["sensors"][1].update(touch_threshold=20_001)),
    (
        "nothing uses mux-2",
        lambda b: b["ics"].append({"name": "mux-2", "kind": "tca9548a", "bus": 1, "address": 0x72}),
    ),
    (
        "bus 1 has its data line on GPIO 2 and its clock on GPIO 3",
        lambda b: b["buses"][0].update(recovery={"scl_gpio": 2, "sda_gpio": 3}),
    ),
    ("recovery.sda_gpio: is missing", lambda b: b["buses"][0].update(recovery={"scl_gpio": 3})),
    (
        "recovery.speed: is not a key",
        lambda b: b["buses"][0]["recovery"].update(speed=1),
    ),
    ("supply_gpio: 28 is not", lambda b: b["buses"][0].update(supply_gpio=28)),
    (
        "I2C bus 1 and the supply of bus 1 both have GPIO 3",
        lambda b: b["buses"][0].update(supply_gpio=3),
    ),
]


@pytest.mark.parametrize(
    ("sentence", "change"), MUX_REFUSALS, ids=[text for text, _ in MUX_REFUSALS]
)
def test_what_is_wrong_with_a_multiplexed_board_is_refused(sentence: str, change: Change) -> None:
    with pytest.raises(ConfigError, match=sentence) as caught:
        parse_board(changed(change, MUXED))
    assert str(caught.value).startswith("board")
    assert str(caught.value).endswith((".", "?"))


def test_the_pins_of_another_bus_are_claimed_with_its_recovery() -> None:
    def third(board: dict[str, Any]) -> None:
        board["buses"][0].update(number=3, recovery={"scl_gpio": 5, "sda_gpio": 4})
        for ic in board["ics"]:
            ic["bus"] = 3

    with pytest.raises(ConfigError, match="I2C bus 3 and the supply of bus 3 both have GPIO 4"):
        parse_board(changed(third, MUXED))
