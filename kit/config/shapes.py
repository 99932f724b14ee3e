"""What one value of a file may be, and the sentence when it is something else.

A shape takes a value as it came from TOML and gives the one the program works with. It knows
neither its key nor the file, so the same mistake has the same sentence everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TEXT_BYTES_MAX = 64
NAME_CHARACTERS_MAX = 32
SHOWN_CHARACTERS_MAX = 40
INT64_MAX = 2**63 - 1
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?")
DIGITS = re.compile(r"[0-9]+")


class Unfit(Exception):  # noqa: N818 - raised by `take`, caught by the reader of its table
    """A value is not of its shape; the sentence goes behind the key's path."""


class Value:
    """A shape of a single value."""

    def take(self, value: object) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Text(Value):
    bytes_max: int = TEXT_BYTES_MAX

    def take(self, value: object) -> str:
        if not isinstance(value, str):
            raise Unfit(f"must be text, not {shown(value)}.")
        if not 1 <= len(value.encode()) <= self.bytes_max:
            unit = "characters" if value.isascii() else "bytes of UTF-8"
            raise Unfit(f"must be 1 to {self.bytes_max} {unit}.")
        if not value.isprintable() or value != value.strip():
            raise Unfit("has spaces around it or unprintable characters.")
        return value


@dataclass(frozen=True)
class Name(Value):
    """Letters, digits and inner hyphens: what a certificate and a host name can carry."""

    characters_max: int = NAME_CHARACTERS_MAX

    def take(self, value: object) -> str:
        if not isinstance(value, str) or not self.fits(value):
            raise Unfit(
                f"must be 1 to {self.characters_max} letters, digits and inner hyphens, because a"
                f" certificate is made for it, not {shown(value)}."
            )
        return value

    def fits(self, text: str) -> bool:
        return len(text) <= self.characters_max and bool(NAME.fullmatch(text))


@dataclass(frozen=True)
class Digits(Value):
    """A number that is a name. It may be a secret, so it is never shown."""

    digits_max: int

    def take(self, value: object) -> str:
        if not isinstance(value, str) or not DIGITS.fullmatch(value):
            raise Unfit(f"must be 1 to {self.digits_max} digits in quotes.")
        if len(value) > self.digits_max:
            raise Unfit(f"must be 1 to {self.digits_max} digits in quotes, not {len(value)}.")
        return value


@dataclass(frozen=True)
class Whole(Value):
    minimum: int
    maximum: int

    def take(self, value: object) -> int:
        # A TOML boolean is a Python int too, and a float is never a register, a pin or a rate.
        if type(value) is not int:
            raise Unfit(f"must be a whole number, not {shown(value)}.")
        if not self.minimum <= value <= self.maximum:
            raise Unfit(f"{shown(value)} is not between {self.minimum} and {self.maximum}.")
        return value


@dataclass(frozen=True)
class Flag(Value):
    def take(self, value: object) -> bool:
        if type(value) is not bool:
            raise Unfit(f"must be true or false, not {shown(value)}.")
        return value


class Choice(Value):
    """One of a few words; with a mapping, what the word stands for."""

    def __init__(self, choices: Mapping[str, Any] | tuple[str, ...]) -> None:
        pairs = choices if isinstance(choices, Mapping) else {name: name for name in choices}
        self._choices: Mapping[str, Any] = pairs

    def take(self, value: object) -> Any:
        if not isinstance(value, str) or value not in self._choices:
            known = ", ".join(self._choices)
            raise Unfit(f"{shown(value)} is not known; known are {known}.")
        return self._choices[value]


def shown(value: object) -> str:
    """A value as a refusal repeats it: as the file writes it, and never long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, int) and abs(value) > INT64_MAX:
        return "a number beyond 64 bits"  # Python would refuse to print thousands of digits
    if isinstance(value, str):
        cut = value if len(value) <= SHOWN_CHARACTERS_MAX else f"{value[:SHOWN_CHARACTERS_MAX]}..."
        return json.dumps(cut, ensure_ascii=False)
    return str(value)
