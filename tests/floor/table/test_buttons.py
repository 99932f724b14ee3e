"""One vocabulary of buttons for panel, keypad, bench and scenarios."""

from __future__ import annotations

import re
from typing import Any

import pytest

from controller.config import parse_unit_config
from controller.core.round import commands
from controller.inputs import buttons
from controller.web import app
from hal import aio
from protocol.numbers import VOID_REASONS
from sim.floor.floor import TABLES_FOLDER, Floor
from sim.runs.scenario.language import parse_scenario
from sim.runs.scenario.player import Player
from sim.runs.scenario.verdict import CannotDo
from sim.time.loop import run_virtual
from tests.kit.page_client import Browser
from tests.kit.table_views import FakeTable

TABLES = sorted(file.stem for file in TABLES_FOLDER.glob("*.toml"))

VOIDS = {f"VOID {reason}" for reason in VOID_REASONS}


def settled(name: str) -> tuple[list[str], dict[str, Any]]:
    """What a shipped table's panel offers once the manager's settings are there, and its view."""

    async def run() -> tuple[list[str], dict[str, Any]]:
        floor = Floor(1)
        table = await floor.open_table(name)
        await aio.sleep_ms(3000)
        unit = table.unit.controller
        assert unit is not None
        config = table.config
        offered = buttons.panel_buttons(config.workflow, config.seat_count, unit.table.rules.games)
        view = unit.pages.view()
        await floor.close()
        return offered, view

    return run_virtual(run())


@pytest.mark.parametrize("name", TABLES)
def test_the_panel_draws_exactly_the_buttons_that_the_vocabulary_offers(name: str) -> None:
    """Catches: a hand without its game's letter, an action of the other workflow."""
    offered, view = settled(name)
    page = Browser(app.build(FakeTable(view))).get("/").text
    drawn = re.findall(r'data-button="([^"]+)"', page)
    drawn = [button for button in drawn if button != "TRAIN"]  # of supervisors, and of no game
    if view["workflow"] == "touch":
        drawn.remove("REOPEN")  # shown only while the last round can be opened again
        # Shown only while a supervisor could void the round.
        assert {each for each in drawn if each.startswith("VOID ")} == VOIDS
        drawn = [each for each in drawn if each not in VOIDS]
    assert sorted(drawn) == sorted(offered)
    for button in offered:
        assert buttons.PANEL_BUTTON.fullmatch(button), "the panel's own route takes it"
        assert buttons.is_button(button), "and the round knows it"


@pytest.mark.parametrize("name", TABLES)
def test_every_key_of_a_keypad_is_a_button(name: str) -> None:
    text = (TABLES_FOLDER / f"{name}.toml").read_text("utf-8")
    keypad = parse_unit_config(text).board.keypad
    assert all(buttons.is_button(key) for key in (keypad.keys if keypad else ()))


@pytest.mark.parametrize(
    ("table", "button"),
    [
        ("face-up-pai-gow-dual", "SEAT 3B"),
        ("face-up-pai-gow-dual", "HAND five-aces"),
        ("four-card-touch", "HAND four-aces A"),
        ("four-card-touch", "JPOT"),
        ("four-card-touch", "SEAT 8"),
        ("four-card-touch", "JOIN 2 8"),
        ("four-card-touch", "HAND royal-flush"),
        ("four-card-keypad", "SEAT 3A"),
    ],
)
def test_a_scenario_cannot_press_what_this_table_does_not_offer(table: str, button: str) -> None:
    play = Player(lambda: Floor(1)).play(parse_scenario(f"table {table}\npress {button}"))
    with pytest.raises(CannotDo, match=button):
        run_virtual(play)


@pytest.mark.parametrize("button", ["", "SEAT", "SEAT x", "START now", "HAND", "PAY", "JOIN 2 x"])
def test_other_words_are_no_buttons(button: str) -> None:
    assert not buttons.is_button(button)


def test_start_asks_the_spots_and_jpot_takes_the_key_along() -> None:
    verdicts = [("1A", 1)]
    assert buttons.command_of("START", "", lambda: verdicts) == commands.start(verdicts)
    assert buttons.command_of("JPOT", "JPH", list) == commands.jpot("JPH")
