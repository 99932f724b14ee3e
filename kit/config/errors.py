"""What is wrong in a file: the key's path, a sentence, and where in the text it stands.

Everybody who refuses something in a configuration file raises `ConfigError`; who caught it can show
it as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

# Keys and, counted from 0, places in arrays; people read the places counted from 1.
Path = tuple[str | int, ...]
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
KEY_CHARACTERS_MAX = 80


@dataclass(frozen=True)
class Problem:
    """One fault. Without a file it was found in values that came from no text."""

    path: Path
    sentence: str
    is_key: bool = False  # the key itself is wrong, not its value
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.file and self.line else self.file
        return ": ".join(part for part in (place, written(self.path), self.sentence) if part)


class ConfigError(Exception):
    """A configuration is refused: every problem on a line of its own, in the text's order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


def refusal(path: Path, sentence: str) -> ConfigError:
    """For who finds one thing wrong after a file was read."""
    return ConfigError([Problem(path, sentence)])


def written(path: Path) -> str:
    """The path as a person would write it: `board.ics[2]."odd key"`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += f".{_key(part)}" if text else _key(part)
    return text


def _key(key: str) -> str:
    """The key as the file has it: a name with a colon or a blank in it stands in quotes."""
    if len(key) > KEY_CHARACTERS_MAX:
        key = f"{key[:KEY_CHARACTERS_MAX]}..."
    return key if BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
