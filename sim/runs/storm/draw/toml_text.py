"""Writes the few shapes of TOML that a table's file has, so that a drawn table is a file again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def toml_text(document: Mapping[str, Any]) -> str:
    return "\n".join(_table((), document)) + "\n"


def _table(path: tuple[str, ...], values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if not _is_nested(value):
            yield f"{_name(name)} = {_value(value)}"
    for name, value in values.items():
        below = (*path, name)
        heading = ".".join(_name(part) for part in below)
        if isinstance(value, Mapping):
            yield f"\n[{heading}]"
            yield from _table(below, value)
        elif _is_nested(value):
            for each in value:
                yield f"\n[[{heading}]]"
                yield from _table(below, each)


def _is_nested(value: Any) -> bool:
    rows = isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
    return isinstance(value, Mapping) or rows


def _name(name: str) -> str:
    return json.dumps(name)


def _value(value: Any) -> str:
    # JSON's text, integers, booleans and lists of them are TOML's as well.
    return json.dumps(value)
