"""Table files as people and accidents change them: values, keys and lines of the shipped ones.

It makes inputs and writes them as TOML; what must come of them is said in the tests.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.kit.places import TABLES

SHIPPED = sorted(TABLES.glob("*.toml"))
TEXTS = [path.read_text(encoding="utf-8") for path in SHIPPED]

odd_texts = st.text(max_size=20) | st.sampled_from(
    ["", " ", "A", "1A", "99Z", "\u0661A", "SEAT 1", "main", "10000.00", "-1", "1e9", "x" * 300]
)
odd_numbers = st.integers(-3, 300) | st.sampled_from(
    [2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30]
)
odd_values = st.recursive(
    odd_texts | odd_numbers | st.booleans() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(odd_texts, inner, max_size=3),
    max_leaves=4,
)
odd_words = st.sampled_from(
    [
        '""',
        "nan",
        "-0.0",
        "[]",
        "{}",
        "[[1]]",
        '"\\u0000"',
        "1979-05-27",
        "0x7fffffffffffffffff",
        "=",
    ]
)


# What both sides read; most changes of a whole file are in what only one does.
SHARED = ("table", "board.serial", "")


@st.composite
def documents(draw: st.DrawFn, at: tuple[str, ...] = ()) -> dict[str, Any]:
    """A shipped file, parsed, with one to three values or keys changed, also only in these places:
    a table, a key of one, or "" for the sections themselves."""
    document = tomllib.loads(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 3))):
        if at:
            _change_at(draw, document, draw(st.sampled_from(at)))
        else:
            _change(draw, document)
    return document


def _change_at(draw: st.DrawFn, document: dict[str, Any], place: str) -> None:
    section, _, key = place.partition(".")
    table = document.get(section) if section else document
    if not isinstance(table, dict):
        return
    key = key or draw(st.sampled_from([*sorted(table), draw(odd_texts)]))
    if draw(st.integers(0, 3)):
        table[key] = draw(odd_values)
    else:
        table.pop(key, None)


def _change(draw: st.DrawFn, document: dict[str, Any]) -> None:
    at: Any = document
    while True:
        if not at:
            return
        place = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        inner = at[place]
        if not isinstance(inner, (dict, list)) or draw(st.integers(0, 5)) == 0:
            break
        at = inner
    match draw(st.sampled_from(["replace", "remove", "add", "repeat"])):
        case "replace":
            at[place] = draw(odd_values)
        case "remove":
            del at[place]
        case "add" if isinstance(at, dict):
            at[draw(odd_texts)] = draw(odd_values)
        case _ if isinstance(at, list):
            at.append(copy.deepcopy(inner))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A shipped file as text, with lines or parts of lines changed, doubled or lost."""
    lines = draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[at].partition("=")
        match draw(st.sampled_from(["value", "remove", "double", "cut", "insert", "swap"])):
            case "value" if equals:
                lines[at] = f"{key}= {draw(odd_words | odd_values.map(toml_value))}"
            case "remove":
                lines[at] = ""
            case "double":
                lines.insert(at, lines[at])
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case "insert":
                lines.insert(at, draw(st.text(max_size=20)))
            case _:
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)


def toml_value(value: Any) -> str:
    """One value on one line, as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_value(key)} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    return repr(value)


def toml_document(document: Mapping[str, Any]) -> str:
    return "\n".join(f"{toml_value(key)} = {toml_value(value)}" for key, value in document.items())
