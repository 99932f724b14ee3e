"""The touch table's scenarios, word for word, on the sensing board with the other ICs.

A handful of each kind; what one chip for all seats, an interrupt line or an over-current flag makes
of a scenario is left out, and has scenarios of its own (`fdc-…`).
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from sim.runs.scenario.command import play_text
from tests.kit.places import TABLES

FOLDER = Path(__file__).parent
ONE, OTHER = "four-card-touch", "four-card-touch-fdc"
NAMES = (
    "touch-nobody-wins",
    "touch-all-seven-seats",
    "touch-four-aces",
    "touch-jackpot-twice-in-one-round",
    "touch-chip-50ms-before-start",
    "touch-chip-200ms-before-start",
    "touch-chip-removed-50ms-before-start",
    "touch-chip-removed-from-an-open-table-at-start",
    "touch-chips-leave-the-felt",
    "touch-late-chip-added",
    "touch-late-chip-removed",
    "touch-late-chip-still-there-at-end",
    "touch-only-a-moving-chip",
    "touch-link-cut-locked",
    "touch-power-cut-locked",
    "touch-power-cut-chips-moved-in-the-dark",
    "fault-lamp-ic-silent",
    "fault-sensing-ic-reset",
    "fault-sensing-ic-reset-open",
    "fault-sensing-ic-silent-in-a-game",
    "fault-short-read",
    "fault-bus-held-in-mid-byte",
    "fault-grounded-bus",
    "fault-grounded-bus-in-a-game",
    "fault-stuck-bus",
    "fault-stuck-bus-in-a-game",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_scenario_on_the_other_board(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines.count(f"table {ONE}") >= 1
    play_text("\n".join(f"table {OTHER}" if line == f"table {ONE}" else line for line in lines))


def test_the_two_tables_differ_in_their_names_and_boards_only() -> None:
    one, other = document(ONE), document(OTHER)
    for each in (one, other):
        del each["board"]
        del each["table"]["id"], each["table"]["name"]
    assert one == other


def document(name: str) -> dict[str, Any]:
    return tomllib.loads((TABLES / f"{name}.toml").read_text(encoding="utf-8"))
