"""What is wrong in a pack file, by line and column, and the checks that every table in it gets.

It knows places, and which keys each table needs; what they mean is the reader's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manager.games.positions import Path, Position, PositionIndex

_REQUIRED = {
    "pack": ("format", "game", "title", "source", "bet"),
    "bet": ("id", "title", "evaluator", "deck", "cards_considered", "paytable"),
    "paytable": ("label", "hands"),
    "hand": ("id", "label", "pay"),
    "printed": ("figure", "value", "where"),
}


@dataclass(frozen=True)
class Problem:
    """One fault of a pack file: where it stands and a sentence for the person who wrote it."""

    file: str
    line: int
    column: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.sentence}"


class PackError(ValueError):
    """A pack file was refused; carries every problem found in it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class Findings:
    """The problems of one file, each found at a key or a value of its text."""

    def __init__(self, file: str, positions: PositionIndex) -> None:
        self.file = file
        self.positions = positions
        self.problems: list[Problem] = []

    def check_keys(self, path: Path, table: Any, known: Mapping[str, type], kind: str) -> bool:
        """True when the table can be read on: right types, nothing missing."""
        if not isinstance(table, dict):
            self.bad_value(path, f"A {kind} must be a table.")
            return False
        good = True
        for key, value in table.items():
            if key not in known:
                names = ", ".join(known)
                self._bad_key((*path, key), f"A {kind} has no key {key!r}; it has {names}.")
            elif type(value) is not known[key]:
                self.bad_value((*path, key), f"{key} must be {_type_name(known[key])}.")
                good = False
        for key in _REQUIRED[kind]:
            if key not in table:
                self.bad_value(path, f"This {kind} needs the key {key!r}.")
                good = False
        return good

    def check_texts(self, path: Path, rows: list[Any]) -> bool:
        good = True
        for number, row in enumerate(rows):
            if not isinstance(row, str):
                self.bad_value((*path, number), "This must be a text.")
                good = False
        return good

    def check_pattern(self, path: Path, text: str, pattern: re.Pattern[str]) -> None:
        if not pattern.fullmatch(text):
            self.bad_value(path, f"{text!r} cannot be part of an id.")

    def check_choice(self, path: Path, text: str | None, known: tuple[str, ...]) -> None:
        if text is not None and text not in known:
            self.bad_value(path, f"{text!r} is not one of {', '.join(known)}.")

    def bad_value(self, path: Path, sentence: str) -> None:
        self._report(self.positions.of_value(path), sentence)

    def _bad_key(self, path: Path, sentence: str) -> None:
        self._report(self.positions.of_key(path), sentence)

    def _report(self, place: Position, sentence: str) -> None:
        self.problems.append(Problem(self.file, place.line, place.column, sentence))


def _type_name(kind: type) -> str:
    return {int: "a whole number", str: "a text", bool: "true or false", list: "an array"}[kind]
