"""Reads one table of a TOML file strictly: every key is asked for once, what is left is refused.

Every refusal is a sentence with the key's path. What the values mean is the caller's business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from manager.money import MoneyError, cents_from_text

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class SetupError(Exception):
    """The set-up file says something that cannot be obeyed; the sentence names the key."""


class Section:
    def __init__(self, values: object, path: str) -> None:
        if not isinstance(values, Mapping):
            raise SetupError(f"{path} must be a table.")
        self._left = dict(values)
        self.path = path

    def text(self, key: str) -> str:
        value = self._take(key)
        if not isinstance(value, str) or not value.strip():
            raise self.refusal(key, f"must be text, not {value!r}")
        return value

    def whole(self, key: str, minimum: int, maximum: int) -> int:
        value = self._take(key)
        if type(value) is not int or not minimum <= value <= maximum:
            raise self.refusal(
                key, f"must be a whole number from {minimum} to {maximum}, not {value!r}"
            )
        return value

    def flag(self, key: str) -> bool:
        value = self._take(key)
        if type(value) is not bool:
            raise self.refusal(key, f"must be true or false, not {value!r}")
        return value

    def cents(self, key: str) -> int:
        try:
            return cents_from_text(self._take(key), self._name(key))
        except MoneyError as error:
            raise SetupError(str(error)) from error

    def choice(self, key: str, allowed: Mapping[str, Any]) -> Any:
        """The value that `allowed` has for the text found."""
        value = self.text(key)
        if value not in allowed:
            raise self.refusal(key, f"must be one of {', '.join(allowed)}, not {value!r}")
        return allowed[value]

    def section(self, key: str) -> Section:
        return Section(self._take(key), self._name(key))

    def sections(self, key: str) -> dict[str, Section]:
        """A table of tables, by name, in the file's order."""
        values = self._take(key)
        if not isinstance(values, Mapping) or not values:
            raise self.refusal(key, "must hold at least one table")
        return {
            name: Section(value, f"{self._name(key)}.{_as_written(name)}")
            for name, value in values.items()
        }

    def list_of_sections(self, key: str) -> list[Section]:
        """An array of tables; none is written as no array."""
        values = self._left.pop(key, [])
        if not isinstance(values, list):
            raise self.refusal(key, "must be an array of tables")
        return [Section(value, f"{self._name(key)}[{i}]") for i, value in enumerate(values)]

    def texts(self, key: str) -> dict[str, str]:
        """A table whose values are all text."""
        values = self._take(key)
        if not isinstance(values, Mapping) or not all(isinstance(v, str) for v in values.values()):
            raise self.refusal(key, "must be a table of texts")
        return dict(values)

    def leave_to_others(self, *keys: str) -> dict[str, Any]:
        """Keys that another reader of the same file checks."""
        return {key: self._left.pop(key) for key in keys if key in self._left}

    def done(self) -> None:
        """Refuses what nobody asked for."""
        for key in self._left:
            raise self.refusal(key, "is not a known key")

    def refusal(self, key: str, reason: str) -> SetupError:
        return SetupError(f"{self._name(key)} {reason}.")

    def _take(self, key: str) -> Any:
        if key not in self._left:
            raise self.refusal(key, "is missing")
        return self._left.pop(key)

    def _name(self, key: str) -> str:
        return f"{self.path}.{_as_written(key)}" if self.path else _as_written(key)


def _as_written(key: str) -> str:
    """The key as the file has it: a name with a colon or a blank in it stands in quotes."""
    return key if BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
