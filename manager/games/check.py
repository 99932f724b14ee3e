"""Reads and checks whole pack files for the person who wrote them.

Gives every problem with its line and column. Whether a file's ids clash with other packs is the
catalogue's business.
"""

from __future__ import annotations

from pathlib import Path

from manager.games.findings import PackError, Problem
from manager.games.model import Paytable
from manager.games.pack import inspect_pack


def read_pack_file(path: Path) -> list[Paytable]:
    """The file's paytables, or PackError with every problem in it."""
    paytables, problems = _inspect(path)
    if problems:
        raise PackError(problems)
    return paytables


def check_file(path: Path) -> list[Problem]:
    """Every problem of the pack file, in the order of the text; none: it can be used."""
    return _inspect(path)[1]


def _inspect(path: Path) -> tuple[list[Paytable], list[Problem]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        return [], [Problem(str(path), 1, 1, f"The file cannot be read: {error.strerror}.")]
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        return [], [Problem(str(path), line, column, "The file is not UTF-8 text.")]
    paytables, problems = inspect_pack(text, str(path))
    return paytables, sorted(problems, key=lambda problem: (problem.line, problem.column))
