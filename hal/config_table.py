"""Reads one TOML table strictly: each value is taken once, with its type and range, by name.

What is missing, of the wrong type, out of range or left over is refused with a sentence that begins
with the key's path. It knows nothing about boards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hal.errors import ConfigError

TEXT_CHARACTERS_MAX = 64
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class ConfigTable:
    """One table of the file; `finish` refuses every key nobody asked for."""

    def __init__(self, path: str, table: object) -> None:
        if not isinstance(table, Mapping):
            raise ConfigError(f"{path}: must be a table.")
        self.path = path
        self._table: Mapping[str, Any] = table
        self._asked: set[str] = set()

    def text(self, key: str, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
        value = self._take(key)
        if not isinstance(value, str) or not 1 <= len(value) <= characters_max:
            raise ConfigError(f"{self.path}.{key}: must be 1 to {characters_max} characters.")
        if not value.isprintable() or value != value.strip():
            raise ConfigError(f"{self.path}.{key}: has spaces around it or unprintable characters.")
        return value

    def number(self, key: str, at_least: int, at_most: int, default: int | None = None) -> int:
        if default is not None and not self.has(key):
            return default
        value = self._take(key)
        # A TOML boolean is a Python int too, and a float is never a register or a pin.
        if type(value) is not int:
            raise ConfigError(f"{self.path}.{key}: must be a whole number.")
        if not at_least <= value <= at_most:
            raise ConfigError(
                f"{self.path}.{key}: {value} is not between {at_least} and {at_most}."
            )
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in choices:
            known = ", ".join(choices)
            raise ConfigError(f'{self.path}.{key}: "{value}" is not known; known are {known}.')
        return value

    def section(self, key: str) -> ConfigTable | None:
        """A table below this one, or None when the file has none."""
        return ConfigTable(f"{self.path}.{key}", self._take(key)) if self.has(key) else None

    def rows(self, key: str) -> list[ConfigTable]:
        """The tables of an array, at least one; each is called by its place, counted from 1."""
        rows = self._take(key)
        if not isinstance(rows, list) or not rows:
            raise ConfigError(f"{self.path}.{key}: must be one or more tables.")
        return [
            ConfigTable(f"{self.path}.{key}[{place}]", row) for place, row in enumerate(rows, 1)
        ]

    def names(self) -> list[str]:
        return list(self._table)

    def has(self, key: str) -> bool:
        self._asked.add(key)
        return key in self._table

    def finish(self) -> None:
        for key in self._table:
            if key not in self._asked:
                raise ConfigError(
                    f"{self.path}.{as_written(key)}: is not a key this version knows."
                )

    def refuse(self, key: str, why: str) -> ConfigError:
        return ConfigError(f"{self.path}.{key}: {why}")

    def _take(self, key: str) -> object:
        if not self.has(key):
            raise ConfigError(f"{self.path}.{key}: is missing.")
        return self._table[key]


def as_written(key: str) -> str:
    """The key as the file has it: a name with a colon or a blank in it stands in quotes."""
    return key if BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
