"""docs/hardware.md is what the board files say, and nothing else.

Mutations this catches: a table file changed without its drawing, a pin that the page leaves out, a
page written by hand.
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hal.board.wiring import pins
from hal.ics import pca9685
from hal.ics.kinds import MPR121, PCA8574, PCA9685, TCA9548A
from sim.runs.hardware import parts, sensing_leads
from sim.runs.hardware.command import TABLES_FOLDER, files
from sim.runs.hardware.page import boards
from sim.runs.hardware.wires import Wire, wires_of
from tests.kit.places import DOCS, ROOT

FILES = files()


@pytest.mark.parametrize("name", FILES)
def test_the_page_is_what_the_generator_makes(name: str) -> None:
    kept = (DOCS / name).read_text(encoding="utf-8")
    assert kept == FILES[name], "run: python -m sim hardware"


def test_no_drawing_is_left_over() -> None:
    kept = {f"pictures/{path.name}" for path in (DOCS / "pictures").glob("hardware-*.svg")}
    assert kept == {name for name in FILES if name.endswith(".svg")}


def test_every_table_and_every_pin_is_on_the_page() -> None:
    page = FILES["hardware.md"]
    named = set()
    for tables, board in boards(TABLES_FOLDER).values():
        named |= set(tables)
        assert all(f"| GPIO {gpio} | {use} |" in page for gpio, use in pins(board))
        assert all(f"| pad {sensor.id} | {sensor.ic} " in page for sensor in board.sensors)
    assert named == {path.stem for path in (ROOT / "deploy" / "tables").glob("*.toml")}


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".svg")])
def test_a_drawing_is_whole_and_keeps_inside_its_frame(name: str) -> None:
    root = ElementTree.fromstring(FILES[name])
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for each in root:
        if "x" in each.attrib:
            assert 0 <= float(each.attrib["x"]) < width
            assert 0 <= float(each.attrib["y"]) < height


def wires_on(table: str) -> dict[str, Wire]:
    (board,) = [board for tables, board in boards(TABLES_FOLDER).values() if table in tables]
    return {wire.wire: wire for wire in wires_of(board)}


def test_an_ic_behind_a_multiplexer_is_not_on_the_bus_itself() -> None:
    """Both FDC1004 have one address: on one pair of wires, neither could be read."""
    wires = wires_on("four-card-touch-fdc")
    assert wires["bus 1 SDA"].end == "SDA of mux-1, lights-1"
    assert (wires["channel 1"].start, wires["channel 1"].end) == (
        "mux-1 SD1, SC1",
        "sense-2 SDA, SCL",
    )
    drawing = FILES["pictures/hardware-four-card-touch-fdc.svg"]
    assert "SDA, SCL from mux-1 SD1, SC1" in drawing


def test_pins_have_the_names_of_their_makers() -> None:
    assert wires_on("four-card-touch-fdc")["pad 5A"].start == "sense-2 CIN1"
    assert wires_on("four-card-touch")["pad 5A"].start == "sense-1 ELE4"


def test_lamps_are_wired_as_the_driver_sets_its_outputs_up() -> None:
    """Not inverted, an output is high while its lamp is lit: a lamp to 5 V needs a switch."""
    inverted = 0x10
    assert not pca9685.OUTPUTS & inverted
    assert (
        wires_on("four-card-touch")["lamp 3A"].start == "lights-1 LED4, LED5, each by a lamp switch"
    )


@pytest.mark.parametrize(
    ("kind", "address", "tied"),
    [
        (MPR121, 0x5C, "ADDR to SDA"),
        (PCA9685, 0x42, "A1 to VDD; A0, A2, A3, A4, A5 to ground; OE, EXTCLK to ground"),
        (PCA8574, 0x27, "A0, A1, A2 to VDD"),
        (TCA9548A, 0x71, "A0 to VDD; A1, A2 to ground; RESET to VDD"),
    ],
)
def test_an_address_is_told_by_its_pins(kind: str, address: int, tied: str) -> None:
    assert parts.tied_pins(kind, address) == tied


def test_a_long_lead_hides_a_chip() -> None:
    shortest, *_, longest = sensing_leads.leads()
    assert shortest.chip_counts > 50 > 1 > longest.chip_counts
