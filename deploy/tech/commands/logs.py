"""`logs`: the unit's journal and program log in words; `-f` goes on until Ctrl-C. Play goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Final

from deploy.tech.options import unit_parser, visiting
from deploy.tech.terminal import BAD, WARN, Terminal, clock
from deploy.tech.visit import Visit

EVERY_S: Final = 1.0
STYLES: Final = {"warning": WARN, "error": BAD, "critical": BAD}

Line = tuple[int, str, str]  # wall_ms, style, text


def main(arguments: list[str]) -> int:
    parser = unit_parser("logs", __doc__)
    parser.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")
    parser.add_argument("--only", default="", metavar="TEXT", help="lines that have this in them")
    options = parser.parse_args(arguments)
    terminal = Terminal()
    with visiting(options) as visit:
        for wall_ms, style, text in lines(visit, options.follow, threading.Event()):
            if options.only.lower() in text.lower():
                terminal.line(f"{clock(wall_ms)}  {text}", style)
    return 0


def lines(visit: Visit, follow: bool, is_over: threading.Event) -> Iterator[Line]:
    """What there is, oldest first; then what comes, until it is over."""
    sequence = number = 0
    while True:
        told = visit.get(f"/log?sequence={sequence}&line={number}")
        sequence = max([sequence, *(each["sequence"] for each in told["journal"])])
        number = max([number, *(each["number"] for each in told["lines"])])
        yield from sorted([*map(_journal, told["journal"]), *map(_program, told["lines"])])
        if not follow or is_over.wait(EVERY_S):
            return


def _journal(each: dict[str, Any]) -> Line:
    return each["wall_ms"], "", f"{each['sequence']:>7} {each['kind']}: {each['text']}"


def _program(each: dict[str, Any]) -> Line:
    style = STYLES.get(each["level"], "")
    return each["wall_ms"], style, f"{each['level']:>7} {each['source']}: {each['text']}"
