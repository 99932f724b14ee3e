"""Takes in the text of a TOML file: bounded in size and depth, with the place of every key.

Each way in which a file is no document has one sentence here. What stands in it is not judged.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from kit.config.errors import ConfigError, Path, Problem
from kit.config.positions import PositionIndex, index_positions

# The largest file that ships has 15 kB. What is read into memory must have an end.
FILE_BYTES_MAX = 256 * 1024
# Files that ship nest five deep; the parser recurses, so it must not be given a thousand.
DEPTH_MAX = 12
TOO_DEEP = f"is nested more than {DEPTH_MAX} deep."

_TOML_PLACE = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
# What may hold a bracket or a dot that nests nothing, and then what does or ends it.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\[\]{}.=,\n]",
    re.DOTALL,
)


@dataclass(frozen=True)
class Document:
    """A file's values and where each stands; made from values alone it knows no places."""

    values: Mapping[str, Any]
    file: str = ""
    text: str = ""

    @cached_property
    def positions(self) -> PositionIndex:
        """Looked for when somebody asks: most files are in order, and then nobody does."""
        return index_positions(self.text)

    @contextmanager
    def placing(self) -> Iterator[None]:
        """What is refused inside gets its place in this document."""
        try:
            yield
        except ConfigError as error:
            placed = [self._placed(problem) for problem in error.problems]
            placed.sort(key=lambda problem: (problem.line, problem.column))
            raise ConfigError(placed) from error

    def _placed(self, problem: Problem) -> Problem:
        if problem.line or problem.file:
            return problem
        if not problem.path or not self.positions.values:
            return replace(problem, file=self.file)
        index = self.positions
        place = (index.of_key if problem.is_key else index.of_value)(problem.path)
        return replace(problem, file=self.file, line=place.line, column=place.column)


def load(path: FilePath) -> Document:
    """The document in a file; refusals begin with the file as the caller named it."""
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise _refusal(str(path), f"cannot be read: {error.strerror}.") from error
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(content) > FILE_BYTES_MAX:
            raise _too_long(str(path)) from error
        readable = content[: error.start].decode("utf-8")
        raise _refusal(str(path), "is not UTF-8 text.", *_place(readable, len(readable))) from error
    return parse(text, str(path))


def parse(text: str, file: str = "") -> Document:
    """The document in a text; `file` only names it."""
    if len(text.encode("utf-8", "replace")) > FILE_BYTES_MAX:
        raise _too_long(file)
    text = text.replace("\r\n", "\n")
    _refuse_deep_text(text, file)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(text, file, str(error)) from error
    except ValueError as error:  # a decimal number of thousands of digits
        raise _not_toml(text, file, "A number is too long") from error
    document = Document(values, file, text)
    with document.placing():
        _refuse_deep_values(values)
    return document


def _refuse_deep_text(text: str, file: str) -> None:
    """Before the parser sees it: it recurses into brackets, and a key of 10,000 dots takes it
    minutes."""
    depth = dots = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "[" | "{":
                depth, dots = depth + 1, 0
            case "]" | "}":
                depth, dots = max(0, depth - 1), 0
            case ".":
                dots += 1
            case "=" | "," | "\n":
                dots = 0
        if max(depth, dots) > DEPTH_MAX:
            raise _refusal(file, TOO_DEEP, *_place(text, token.start()))


def _refuse_deep_values(values: Mapping[str, Any]) -> None:
    """A header and the dotted keys below it nest together."""
    waiting: list[tuple[Path, Any]] = [((), values)]
    while waiting:
        path, value = waiting.pop()
        if len(path) > DEPTH_MAX:
            raise ConfigError([Problem(path[:DEPTH_MAX], TOO_DEEP)])
        if isinstance(value, Mapping):
            waiting += [((*path, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, place), inner) for place, inner in enumerate(value)]


def _not_toml(text: str, file: str, sentence: str) -> ConfigError:
    match = _TOML_PLACE.fullmatch(sentence)
    if match:
        return _refusal(file, f"is not TOML: {match[1]}.", int(match[2]), int(match[3]))
    return _refusal(file, f"is not TOML: {sentence}.", text.count("\n") + 1, 1)


def _too_long(file: str) -> ConfigError:
    return _refusal(file, f"is longer than {FILE_BYTES_MAX // 1024} kB.")


def _refusal(file: str, sentence: str, line: int = 0, column: int = 0) -> ConfigError:
    return ConfigError([Problem((), sentence, False, file or "The file", line, column)])


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1
