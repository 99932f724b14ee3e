"""Writes what is done at the bench down as a scenario, which then plays in virtual time.

It alone knows how a poke of the bench or a press on the panel is said in a scenario's words. Before
each act it notes what the table had come to by then; a scenario that plays must come to the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence

from controller.table.answer import Answer
from controller.web.api import TableApi, View
from hal import aio
from manager.money import text_from_cents
from sim.floor.floor import table_path

LINES_MAX = 5000
WAIT_STEP_MS = 10
# A lock or an award needs a moment; what is noted sooner than that was not yet so.
SETTLED_MS = 300

SAID: Mapping[str, Callable[[str], str]] = {
    "place": lambda spot: f"place {spot}",
    "remove": lambda spot: f"remove {spot}",
    "press": lambda key: f"press {key}",
    "key": lambda position: f"key {position}",
    "swipe": lambda card: f"swipe {card}",
    "half-swipe": lambda _card: "swipe HALF",
    "power": lambda what: f"power {what}",
    "cable": lambda what: "link cut" if what == "pull" else "link restore",
    "tamper": lambda what: f"tamper {what}",
    "shuffler": lambda what: f"shuffler {what}",
}
FIND = "FIND "


class Recording:
    """One scenario in the making; `look` is what the panel shows now, None without power."""

    def __init__(
        self, table: str, look: Callable[[], View | None], chips: Sequence[str], key: str
    ) -> None:
        self._look = look
        self._lines = ["# Recorded at the bench.", f"table {table}"]
        self._last_ms = aio.ticks_ms()
        self._known_state = "open"
        self._known_due: dict[int, int] = {}
        view = look()
        for meter in view["meters"] if view else []:
            if meter["id"] in progressives(table):
                self._lines.append(f"meter {meter['id']} {text_from_cents(meter['shown_cents'])}")
        self._lines += [f"place {sensor}" for sensor in chips]
        if key == "JPH":
            self._lines.append("key JPH")

    def __len__(self) -> int:
        return len(self._lines)

    def did(self, action: str, argument: str) -> None:
        """Something was done to the world, other than on the panel's glass."""
        self._act(SAID[action](argument) if action in SAID else f"# {action} {argument}")

    def will_press(self, button: str) -> None:
        """A finger goes to a button of the panel."""
        is_search = button.startswith(FIND)
        self._act(f"find {button.removeprefix(FIND)}" if is_search else f"press {button}")

    def pressed(self, answer: Answer) -> None:
        self._lines.append("expect accepted" if answer.accepted else "expect refused")

    def text(self) -> str:
        """The scenario, with what is so at its end."""
        return "\n".join([*self._lines, *self._truths()]) + "\n"

    def _act(self, line: str) -> None:
        now_ms = aio.ticks_ms()
        passed_ms = aio.ticks_diff(now_ms, self._last_ms)
        if passed_ms >= SETTLED_MS:
            self._lines += self._truths()
        self._last_ms = now_ms
        if len(self._lines) >= LINES_MAX:
            return
        wait_ms = passed_ms // WAIT_STEP_MS * WAIT_STEP_MS
        self._lines += [f"wait {wait_ms}ms", line] if wait_ms else [line]

    def _truths(self) -> list[str]:
        """What has become so since it was noted last."""
        view = self._look()
        if view is None:
            return []
        lines = []
        if view["state"] != self._known_state:
            self._known_state = view["state"]
            lines.append(f"expect state {view['state']}")
        due = {row["seat"]: row["due_cents"] for row in (view["pay"] or {"rows": []})["rows"]}
        if due != self._known_due:
            self._known_due = due
            lines += [f"expect due {seat} {text_from_cents(cents)}" for seat, cents in due.items()]
        return lines


class RecordedPages:
    """A table's pages that tell each press to whoever records."""

    def __init__(self, pages: TableApi, recording: Callable[[], Recording | None]) -> None:
        self._pages = pages
        self._recording = recording

    @property
    def view_version(self) -> int:
        return self._pages.view_version

    def view(self) -> View:
        return self._pages.view()

    async def view_changed(self, after: int) -> int:
        return await self._pages.view_changed(after)

    async def press(self, button: str, beside: Collection[str] = ()) -> Answer:
        recording = self._recording()
        if recording:
            recording.will_press(button)
        answer = await self._pages.press(button, beside)
        if recording and recording is self._recording():
            recording.pressed(answer)
        return answer


def progressives(table: str) -> set[str]:
    """The meters of a shipped table that play moves; a posted prize stays as it opens."""
    jackpots = tomllib.loads(table_path(table).read_text(encoding="utf-8"))["jackpots"]
    return {name for name, terms in jackpots.items() if terms.get("type") != "house"}
