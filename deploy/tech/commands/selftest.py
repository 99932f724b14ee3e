"""`selftest`: every part tried, each verdict as it comes, the faults once more at the end."""

from __future__ import annotations

from typing import Any

from deploy.tech.door import UnitGone
from deploy.tech.options import add_close_table, unit_parser, visiting
from deploy.tech.terminal import BAD, GOOD, Terminal
from deploy.tech.visit import GONE, View, Visit
from kit.command_line import CommandRefused

WORK = "self-test"


def main(arguments: list[str]) -> int:
    parser = unit_parser("selftest", __doc__)
    add_close_table(parser)
    options = parser.parse_args(arguments)
    terminal = Terminal()
    with visiting(options) as visit, visit.in_service("selftest", options.close_table):
        verdicts = follow(visit, terminal)
    faults = [each for each in verdicts if not each["passed"]]
    terminal.line(f"{len(verdicts) - len(faults)} parts are in order, {len(faults)} are not")
    for each in faults:
        _print(terminal, each)
    return 1 if faults else 0


def follow(visit: Visit, terminal: Terminal) -> list[dict[str, Any]]:
    """Begins the test and prints its verdicts; Ctrl-C stops it and gives the board back."""
    visit.act_surely("selftest", lambda shown: bool(shown["mode"]["work"] == WORK))
    shown = 0
    with terminal.progress("testing every part") as bar:
        for view in views_of_work(visit, WORK):
            verdicts: list[dict[str, Any]] = view["selftest"]
            for each in verdicts[shown:]:
                _print(terminal, each)
            shown = len(verdicts)
            bar.update(bar.task_ids[0], description=f"testing: {shown} parts so far")
            sentence = view["mode"]["sentence"]
            if view["mode"]["work"] != WORK:
                if sentence:
                    raise CommandRefused(f"The test ended early: {sentence}")
                return verdicts
    raise UnitGone(f"The unit ended the stream after {shown} verdicts. {GONE}")


def views_of_work(visit: Visit, work: str) -> Any:
    """Views until the unit is gone; says how far it came, because the rest is not known."""
    try:
        yield from visit.views()
    except UnitGone as gone:
        raise UnitGone(f"{gone} The {work} was under way. {GONE}") from gone


def _print(terminal: Terminal, verdict: View) -> None:
    mark, style = ("ok    ", GOOD) if verdict["passed"] else ("FAULT ", BAD)
    terminal.line(f"{mark} {verdict['part']}: {verdict['sentence']}", style)
