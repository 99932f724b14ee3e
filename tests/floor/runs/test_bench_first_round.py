"""The bench's first round on every shipped table, recorded, and played again as a scenario."""

from __future__ import annotations

from typing import Any, cast

import pytest

from hal import aio
from sim.floor.floor import TABLES_FOLDER, Floor, FloorTable
from sim.runs.bench.cable import BenchCable
from sim.runs.bench.recording import RecordedPages
from sim.runs.bench.table import BenchTable
from sim.runs.scenario.command import play_text
from sim.time.loop import run_virtual

TABLES = sorted(path.stem for path in TABLES_FOLDER.glob("*.toml"))
PAUSE_MS = 1200


class Newcomer:
    """Does what the bench says, and nothing else."""

    def __init__(self, table: FloorTable) -> None:
        assert table.unit.controller is not None
        cable = cast(BenchCable, table.cable)
        self.bench = BenchTable(
            table.config, table.world, table.unit, cable, {}, lambda _name: None
        )
        self.controller = table.unit.controller
        self.pages = RecordedPages(self.controller.pages, lambda: self.bench.recording)
        self.is_keypad = table.config.board.keypad is not None

    def step(self) -> int:
        return int(self.bench.view()["first_round"]["step"])

    def text(self) -> str:
        return str(self.bench.view()["first_round"]["text"])

    async def act(self, action: str, argument: str) -> None:
        assert await self.bench.act(action, argument) == ""
        await aio.sleep_ms(PAUSE_MS)

    async def press(self, button: str) -> None:
        if self.is_keypad:
            await self.act("press", button)
        else:
            await self.pages.press(button)
            await aio.sleep_ms(PAUSE_MS)

    async def hand(self) -> None:
        view = self.controller.pages.view()
        game = view["games"][0]
        hand = next(each for each in game["hands"] if each["label"] in self.text())
        # A keypad's keys have no game: with one bet in, the table knows it.
        has_letter = len(view["games"]) > 1 and not self.is_keypad
        letter = f" {game['letter']}" if has_letter else ""
        await self.press(f"HAND {hand['id']}{letter}")

    async def play(self) -> list[int]:
        """The steps that the bench showed, one before each act."""
        shown = [self.step()]
        for does in self._keypad() if self.is_keypad else self._touch():
            await does
            shown.append(self.step())
        return shown

    def _touch(self) -> list[Any]:
        return [
            self.act("place", "2A"),
            self.press("START"),
            self.act("remove", "2A"),
            self._seat_and_hand(),
            self.press("CONFIRM"),
            self._swipe(),
            self.press("TICK 2"),
            self.press("END"),
        ]

    def _keypad(self) -> list[Any]:
        return [
            self.act("place", "2A"),
            self.press("START"),
            self.act("remove", "2A"),
            self.hand(),
            self.act("key", "JPH"),
            self.press("JPOT"),
            self.act("key", "RUN"),
            self.press("END"),
        ]

    async def _seat_and_hand(self) -> None:
        await self.press("SEAT 2")
        await self.hand()

    async def _swipe(self) -> None:
        card = next(word for word in ("EXECUTIVE", "SUPERVISOR") if word in self.text())
        await self.act("swipe", card)


async def first_round(name: str) -> tuple[list[int], str, str]:
    floor = Floor(5)
    try:
        table = await floor.open_table(name)
        await aio.sleep_ms(3000)
        newcomer = Newcomer(table)
        await newcomer.act("record", "begin")
        shown = await newcomer.play()
        await newcomer.act("record", "end")
        return shown, newcomer.text(), newcomer.bench.scenario()
    finally:
        await floor.close()


@pytest.mark.parametrize("name", TABLES)
def test_each_step_is_noticed_and_the_recording_plays(name: str) -> None:
    shown, last, scenario = run_virtual(first_round(name))
    assert shown == [1, 2, 3, 4, 5, 6, 7, 8, 8]
    assert last.startswith("That was a whole round.")
    play_text(scenario)


def test_a_recording_that_was_tampered_with_does_not_play() -> None:
    """Catches: a recording without expectations would pass whatever happens."""
    _shown, _last, scenario = run_virtual(first_round("four-card-touch"))
    assert "expect due 2 300.00" in scenario
    with pytest.raises(Exception, match=r"expected 301\.00"):
        play_text(scenario.replace("expect due 2 300.00", "expect due 2 301.00"))


def test_a_recording_begins_between_games_only() -> None:
    async def run() -> str:
        floor = Floor(5)
        try:
            table = await floor.open_table("four-card-touch")
            await aio.sleep_ms(3000)
            newcomer = Newcomer(table)
            await newcomer.act("place", "2A")
            await newcomer.press("START")
            return await newcomer.bench.act("record", "begin")
        finally:
            await floor.close()

    assert "between two games" in run_virtual(run())
