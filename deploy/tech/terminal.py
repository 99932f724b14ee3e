"""What the tool prints: colour where a terminal has it, plain lines everywhere else.

What a unit sends is text from somewhere else; control characters in it are shown and never obeyed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

GOOD, WARN, BAD, DIM = "green", "yellow", "bold red", "dim"


def printable(text: object) -> str:
    return "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in str(text))


class Terminal:
    """The output of one command. Made when it runs, because tests and pipes change `sys.stdout`."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
        self.is_interactive = sys.stdin.isatty() and sys.stdout.isatty()

    def line(self, text: str, style: str = "") -> None:
        self._console.print(Text(printable(text), style=style))

    @contextmanager
    def progress(self, text: str) -> Iterator[Progress]:
        """A bar on a terminal; elsewhere nothing, because the lines tell how far it is."""
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        with bar:
            bar.add_task(text, total=None)
            yield bar


def clock(wall_ms: int) -> str:
    """In UTC, as the unit's own journal has it."""
    return datetime.fromtimestamp(wall_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
