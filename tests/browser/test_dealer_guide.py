"""The dealer's guide is true: its game can be played by its words, in each of its languages.

The game is the one that `make pictures` plays. Mutations this catches: a button that was renamed on
the panel alone, a step that the guide leaves out, a picture that nobody makes.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from controller.words import FOLDER
from sim.runs.pictures import LANGUAGES, make_pictures
from tests.kit.places import ROOT

DOCS = ROOT / "docs"
GUIDES = {"en": ROOT / "docs/dealer-guide.md", "es": ROOT / "docs/dealer-guide.es.md"}
OTHERS = ("technician", "operator", "table-care")
SWITCH = {"ES", "EN"}
# Photographed in the image's own root: tests/deploy/test_kiosk.py.
OF_THE_IMAGE = {"unit-without-a-table.png"}


def labels_on_the_panel(language: str) -> set[str]:
    spanish = tomllib.loads((FOLDER / "es.toml").read_text("utf-8"))
    words = {**spanish["words"], **spanish["pages"]}
    return set(words) if language == "en" else set(words.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_button_of_the_guide_is_on_the_panel(language: str) -> None:
    named = set(re.findall(r"\*\*([^*a-z]+)\*\*", GUIDES[language].read_text("utf-8"))) - SWITCH
    assert len(named) >= 9
    assert named <= labels_on_the_panel(language)


@pytest.mark.browser
def test_the_guides_game_can_be_played_and_photographed(tmp_path: Path) -> None:
    make_pictures(tmp_path, still_ms=0)
    linked = {
        Path(name).name
        for guide in (*GUIDES.values(), *(DOCS / f"{name}.md" for name in OTHERS))
        for name in re.findall(r"\(pictures/([^)]+\.png)\)", guide.read_text("utf-8"))
    }
    made = {path.name for path in tmp_path.iterdir()}
    assert made == linked - OF_THE_IMAGE
    assert {path.name for path in (ROOT / "docs/pictures").iterdir()} >= made
