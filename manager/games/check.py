"""Checks one pack file for the person who wrote it.

Gives every problem with its line and column; an empty list means that the file can be
put into a packs folder. Whether its ids clash with other packs is the catalogue's business.
"""

from __future__ import annotations

from pathlib import Path

from manager.games.pack import Problem, inspect_pack


def check_file(path: str | Path) -> list[Problem]:
    """Every problem of the pack file, in the order of the text."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        return [Problem(str(file), 1, 1, f"The file cannot be read: {error.strerror}.")]
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        return [Problem(str(file), line, column, "The file is not UTF-8 text.")]
    problems = inspect_pack(text, str(file))[1]
    return sorted(problems, key=lambda problem: (problem.line, problem.column))
