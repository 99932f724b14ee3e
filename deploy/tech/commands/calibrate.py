"""`calibrate`: seat by seat, each step told by the unit and taken when the technician says so.

The unit alone knows the order of the steps and saves at the end. Enter takes the step; `s` leaves
a seat out, `b` goes back, `q` stops and leaves everything as it was. Ctrl-C does that too.
"""

from __future__ import annotations

from collections.abc import Iterator

from deploy.tech.commands.selftest import views_of_work
from deploy.tech.door import UnitGone
from deploy.tech.options import add_close_table, unit_parser, visiting
from deploy.tech.terminal import BAD, GOOD, WARN, Terminal
from deploy.tech.visit import View, Visit
from kit.command_line import CommandRefused

WORK = "calibration"
KEYS = {"": "measure", "s": "skip", "b": "back", "w": "save"}
STYLES = {"good": GOOD, "weak": WARN, "bad": BAD}
NAMES = {"measure": "Enter: measure", "skip": "s: skip", "back": "b: back", "save": "w: save"}


def main(arguments: list[str]) -> int:
    parser = unit_parser("calibrate", __doc__)
    add_close_table(parser)
    parser.add_argument("--undo", action="store_true", help="bring the calibration before back")
    options = parser.parse_args(arguments)
    terminal = Terminal()
    with visiting(options) as visit, visit.in_service("calibrate", options.close_table):
        if options.undo:
            visit.act("undo")
            terminal.line("The calibration before is back; the table starts anew with it.")
            return 0
        visit.act("calibrate")
        return follow(visit, terminal)


def follow(visit: Visit, terminal: Terminal) -> int:
    told: dict[str, str] = {}
    before: object = None
    while True:
        state = next_step(visit, before)
        _print_results(terminal, state, told)
        if state["step"] == "done":
            visit.starts_anew()
            terminal.line(state["sentence"], GOOD)
            return 0
        with visit.present():
            button = _asked(terminal, state)
        before = _place(state)
        visit.act(WORK, button)


def next_step(visit: Visit, before: object) -> View:
    """The step that waits for the technician; the one that was just taken is not it."""
    for view in _work_views(visit):
        state: View | None = view["calibration"]
        if state is None:
            if view["mode"]["work"] != WORK:
                raise CommandRefused(
                    f"The calibration ended: {view['mode']['sentence'] or 'stopped'}"
                )
            continue
        is_waiting = state["buttons"] and not state["measuring"]
        if state["step"] == "done" or (is_waiting and _place(state) != before):
            return state
    raise UnitGone("The unit ended the stream; nothing was saved.")


def _place(state: View) -> tuple[object, ...]:
    return state["step"], state["seat"]


def _work_views(visit: Visit) -> Iterator[View]:
    yield from views_of_work(visit, WORK)


def _print_results(terminal: Terminal, state: View, told: dict[str, str]) -> None:
    for sensor, found in state["results"].items():
        line = f"{found['verdict']:<5} {sensor}: {found['sentence']}"
        if told.get(sensor) != line:
            told[sensor] = line
            terminal.line(line, STYLES.get(found["verdict"], ""))


def _asked(terminal: Terminal, state: View) -> str:
    """A button that the step has; any other key is asked again."""
    terminal.line(state["sentence"])
    is_bad = any(found["verdict"] == "bad" for found in state["results"].values())
    # The unit saves nothing while a spot is bad.
    buttons = [each for each in state["buttons"] if not (is_bad and each == "save")]
    offered = ", ".join(NAMES[each] for each in buttons if each in NAMES)
    while True:
        try:
            key = input(f"[{offered}, q: stop] ").strip().lower()
        except EOFError as error:
            raise CommandRefused("The input ended; nothing was saved.") from error
        if key == "q":
            raise CommandRefused("Stopped; nothing was saved.")
        button = KEYS.get(key, "")
        if key == "" and "save" in buttons:
            button = "save"
        if button in buttons:
            return button
