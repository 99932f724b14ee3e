"""Amounts and words read the same wherever they are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import controller.web
from controller.web import words
from kit.words.numbers import money
from manager.web import words as manager_words
from tests.kit.written_amounts import AMOUNTS

STATIC = Path(controller.web.__file__).parent / "static"


@pytest.mark.parametrize(("cents", "text"), AMOUNTS)
def test_amounts_are_written_to_the_cent(cents: int, text: str) -> None:
    assert money(cents) == text


@pytest.mark.parametrize("name", ["STATES", "LIGHTS"])
def test_the_browser_has_the_same_words(name: str) -> None:
    script = (STATIC / "words.js").read_text()
    body = re.search(rf"const {name} = {{(.*?)}};", script, re.DOTALL)
    assert body is not None
    pairs = dict(re.findall(r'(\w+): "([^"]*)"', body.group(1)))
    assert pairs == getattr(words, name)


def test_keypad_tables_have_the_keypads_names() -> None:
    assert words.action_buttons("keypad")[0] == ("START", "COIN IN")
    assert ("JPOT", "J-POT") in words.action_buttons("keypad")
    assert ("START", "START GAME") in words.action_buttons("touch")
    assert "JPOT" not in dict(words.action_buttons("touch"))


def test_a_moment_names_its_time_zone() -> None:
    assert manager_words.moment(0) == "1970-01-01 00:00:00 UTC"
    assert manager_words.moment(1_794_800_000_999) == "2026-11-16 03:33:20 UTC"


@pytest.mark.parametrize(
    ("age_ms", "text"),
    [(None, "never"), (999, "0 s ago"), (119_999, "119 s ago"), (120_000, "2 min ago")],
)
def test_ages_are_written_in_the_unit_that_matters(age_ms: int | None, text: str) -> None:
    assert manager_words.age(age_ms) == text
    assert manager_words.age(7_200_000) == "2 h ago"
