"""`watch` on a terminal that nobody sees: what the unit told last is on the screen.

Mutations this catches: sensors in another order than the unit's, a screen that stays when the unit
is gone, words of a unit that are obeyed instead of shown.
"""

from __future__ import annotations

import asyncio

from textual.widgets import DataTable, RichLog, Static

from deploy.tech.commands.watch import Feeds, Watch
from deploy.tech.visit import Visit
from tests.kit.scripted_door import ScriptedDoor, View, view

SENSORS = [{"id": "1A"}, {"id": "2A"}]
FRAME: View = {
    "t": 1,
    "s": [
        [700, 699.0, 0.02, "absent", "empty", "empty felt", "dark"],
        [None, None, None, "fault", "", "does not answer", "fault"],
    ],
}


def shown_view() -> View:
    faults = [{"code": "bus", "part": "1", "text": "bus 1\x1b[2J"}]
    guide = {"sentence": "Next: START", "kind": "info"}
    return view(sensors=SENSORS, state="open", link="up", guide=guide, faults=faults)


class StillFeeds(Feeds):
    """Feeds whose streams a test fills by hand."""

    def start(self) -> None:
        self.view, self.frame = shown_view(), FRAME
        self.lines.append((0, "", "7 Boot: begun"))


def watched(trouble: str = "", key: str = "q") -> tuple[Watch, str, list[str], int]:
    feeds = StillFeeds(Visit(ScriptedDoor([])))
    screen = Watch(feeds, shown_view())

    async def look() -> tuple[str, list[str], int]:
        async with screen.run_test(size=(120, 40)) as pilot:
            screen.show()
            await pilot.pause()
            state = str(screen.query_one("#state", Static).render())
            table = screen.query_one(DataTable)
            cells = [str(cell) for cell in table.get_row("2A")]
            count = len(screen.query_one(RichLog).lines)
            feeds.trouble = trouble
            screen.show()
            await pilot.press(key)
        return state, cells, count

    return (screen, *asyncio.run(look()))


def test_state_sensors_and_log_are_on_one_screen() -> None:
    _, state, cells, log_lines = watched()
    assert "Table 7" in state
    assert "Next: START" in state
    assert "FAULT  bus 1\\x1b[2J" in state
    assert cells == ["2A", "no answer", "no answer", "", "fault", "does not answer", "fault"]
    assert log_lines == 1


def test_a_unit_that_is_gone_ends_the_screen_with_its_reason() -> None:
    screen, *_ = watched(trouble="10.0.0.7:8082 does not answer.")
    assert screen.ended == "10.0.0.7:8082 does not answer."


def test_ctrl_c_stops_it_as_it_stops_every_other_command() -> None:
    assert watched(key="ctrl+c")[0].is_stopped
    assert not watched()[0].is_stopped
