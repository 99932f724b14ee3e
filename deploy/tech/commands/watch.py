"""`watch`: one terminal screen with the table's state, every sensor live, and the log.

It only shows, and play goes on. Streams are read on threads, because the door is a blocking one;
the screen takes what they left last, a few times a second, so that a slow terminal never holds the
unit up.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, RichLog, Static

from deploy.tech.commands.logs import lines
from deploy.tech.options import unit_parser, visiting
from deploy.tech.terminal import BAD, GOOD, WARN, clock, printable
from deploy.tech.visit import View, Visit
from kit.command_line import CommandRefused

SHOW_EVERY_S: Final = 0.2
LOG_LINES_MAX: Final = 500
COLUMNS: Final = ("sensor", "raw", "reference", "level", "presence", "what it is, and why", "lamp")
PRESENCE: Final = {"present": GOOD, "fault": BAD}


def main(arguments: list[str]) -> int:
    parser = unit_parser("watch", __doc__)
    options = parser.parse_args(arguments)
    with visiting(options) as visit:
        first = visit.view()
        screen = Watch(Feeds(visit), first)
        screen.run()
        if screen.ended:
            raise CommandRefused(screen.ended)
        if screen.is_stopped:
            raise KeyboardInterrupt
    return 0


class Feeds:
    """The unit's three streams, each on a thread of its own, and what came last of each."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._is_over = threading.Event()
        self.view: View = {}
        self.frame: View = {}
        self.lines: deque[tuple[int, str, str]] = deque(maxlen=LOG_LINES_MAX)
        self.trouble = ""

    def start(self) -> None:
        def keep_view(view: View) -> None:
            self.view = view

        def keep_frame(frame: View) -> None:
            self.frame = frame

        def follow() -> Iterator[Any]:
            return lines(self._visit, True, self._is_over)

        self._on_thread("views", self._visit.views, keep_view)
        self._on_thread("frames", self._visit.frames, keep_frame)
        self._on_thread("log", follow, self.lines.append)

    def stop(self) -> None:
        self._is_over.set()

    def _on_thread(
        self, name: str, stream: Callable[[], Iterator[Any]], keep: Callable[[Any], None]
    ) -> None:
        def take() -> None:
            try:
                for each in stream():
                    if self._is_over.is_set():
                        return
                    keep(each)
            except CommandRefused as refused:
                self.trouble = str(refused)
                return
            if not self._is_over.is_set():
                self.trouble = "The unit ended the connection."

        threading.Thread(target=take, name=f"watch {name}", daemon=True).start()


class Watch(App[None]):
    CSS = "#state { height: auto; padding: 0 1; } DataTable { height: auto; max-height: 60%; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("p", "pause", "Pause the log"),
        # As everywhere in this tool. Textual's own answer is advice to press another key.
        Binding("ctrl+c", "stop", show=False, priority=True),
    ]

    def __init__(self, feeds: Feeds, first: View) -> None:
        super().__init__()
        self._feeds = feeds
        self._sensors = [each["id"] for each in first["sensors"]]
        self._is_paused = False
        self.ended = ""
        self.is_stopped = False

    def compose(self) -> ComposeResult:
        yield Static(id="state")
        yield DataTable(id="sensors", show_cursor=False)
        yield RichLog(id="log", max_lines=LOG_LINES_MAX, wrap=True)
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        for column in COLUMNS:
            table.add_column(column, key=column)
        for sensor in self._sensors:
            table.add_row(sensor, *[""] * (len(COLUMNS) - 1), key=sensor)
        self._feeds.start()
        self.set_interval(SHOW_EVERY_S, self.show)

    def action_pause(self) -> None:
        self._is_paused = not self._is_paused

    def action_stop(self) -> None:
        self.is_stopped = True
        self.exit()

    def show(self) -> None:
        if self._feeds.trouble:
            self.ended = self._feeds.trouble
            self.exit()
            return
        if self._feeds.view:
            self.query_one("#state", Static).update(state_text(self._feeds.view))
        table = self.query_one(DataTable)
        for sensor, row in zip(self._sensors, self._feeds.frame.get("s", ()), strict=False):
            for column, cell in zip(COLUMNS[1:], sensor_cells(row), strict=True):
                table.update_cell(sensor, column, cell, update_width=True)
        if not self._is_paused:
            self._show_log()

    def _show_log(self) -> None:
        shown = self.query_one(RichLog)
        while self._feeds.lines:
            wall_ms, style, text = self._feeds.lines.popleft()
            shown.write(Text(f"{clock(wall_ms)}  {printable(text)}", style=style))

    def on_unmount(self) -> None:
        self._feeds.stop()


def state_text(view: View) -> Text:
    """What the table is, what comes next, and every fault."""
    mode = view["mode"]
    text = Text()
    text.append(f"{printable(view['name'])}  ", style="bold")
    text.append(f"{printable(view['state'])}  link {printable(view['link'])}")
    if mode["on"]:
        text.append(f"  SERVICE by {printable(mode['tech'])} {printable(mode['work'])}", style=WARN)
    text.append(f"\n{printable(view['guide']['sentence'])}")
    for fault in view["faults"]:
        text.append(f"\nFAULT  {printable(fault['text'])}", style=BAD)
    return text


def sensor_cells(row: list[Any]) -> list[Text]:
    raw, reference, level, presence, kind, why, lamp = row
    style = PRESENCE.get(str(presence), "")
    figures = [_figure(raw), _figure(reference), "" if level is None else f"{level:+.2f}"]
    words = [str(presence), f"{kind}: {why}" if kind else str(why), str(lamp)]
    return [Text(printable(each), style=style) for each in (*figures, *words)]


def _figure(value: Any) -> str:
    return "no answer" if value is None else f"{value:.0f}"
