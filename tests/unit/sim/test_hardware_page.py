"""docs/hardware.md is what the board files say, and nothing else.

Mutations this catches: a table file changed without its drawing, a pin that the page leaves out, a
page written by hand.
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hal.board.wiring import pins
from sim.runs.hardware import sensing_leads
from sim.runs.hardware.command import TABLES_FOLDER, files
from sim.runs.hardware.page import boards
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
        assert all(f"| pad {sensor.id} | {sensor.ic} ELE" in page for sensor in board.sensors)
    assert named == {path.stem for path in (ROOT / "deploy" / "tables").glob("*.toml")}


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".svg")])
def test_a_drawing_is_whole_and_keeps_inside_its_frame(name: str) -> None:
    root = ElementTree.fromstring(FILES[name])
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for each in root:
        if "x" in each.attrib:
            assert 0 <= float(each.attrib["x"]) < width
            assert 0 <= float(each.attrib["y"]) < height


def test_a_long_lead_hides_a_chip() -> None:
    shortest, *_, longest = sensing_leads.leads()
    assert shortest.chip_counts > 50 > 1 > longest.chip_counts
