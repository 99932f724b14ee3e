"""The technician's guides name buttons, rooms and pictures that there are.

Mutations this catches: a button of the service page renamed without its guides, a room or a picture
that a guide sends people to in vain.
"""

from __future__ import annotations

import re

import pytest

from sim.runs.bench.faults import LABELS
from tests.kit.places import DOCS, ROOT

GUIDE = re.sub(r"\s+", " ", (DOCS / "table-care.md").read_text("utf-8"))
PAGE = (ROOT / "controller/service/page/templates/service.html").read_text("utf-8")
BUTTONS = set(re.findall(r"<(?:button|a) [^>]*>([A-Z][A-Z -]+)</", PAGE))
# Capitals that are no buttons of this page: of the dealer's panel, and of electronics.
OTHERS = {"PIN", "IC", "OS", "START", "END", "CONFIRM"}
ROOMS = set(re.findall(r'\("[a-z]+", "([^"]+)"\)', PAGE))


def capitals() -> set[str]:
    """Words in capitals, put together where a button has several; prose and commands alike."""
    prose = re.sub(r"!\[[^\]]*\]\([^)]*\)|`[^`]*`", "", GUIDE)
    found = set(re.findall(r"\b[A-Z][A-Z-]+(?: [A-Z][A-Z-]*)*\b", prose))
    return {each for each in found if len(each) > 1 and each not in OTHERS and "UF-" not in each}


def test_every_button_of_the_guides_is_on_the_page() -> None:
    named = capitals()
    assert len(named) >= 12
    assert named <= BUTTONS


def test_every_room_of_the_guides_is_on_the_page() -> None:
    at_the_page = {"Sensors", "Tests", "Buses", "Unit", "Calibrate", "Black box"}
    assert at_the_page <= ROOMS
    assert all(f"*{room}*" in GUIDE for room in at_the_page)
    assert f"*{LABELS['sensors-silent']}*" in GUIDE


@pytest.mark.parametrize("name", re.findall(r"\((pictures/[^)]+)\)", GUIDE))
def test_every_picture_is_there_and_small(name: str) -> None:
    size = (DOCS / name).stat().st_size
    assert size < 700_000 if "bench" in name else size < 150_000
