"""Changes that nobody could ever see, each with its reason. They are not tried and not counted.

It alone reads `equivalent.toml`. A row names its change by module, function, the line's text and
the text before and after: a line number would not last. Where a function has the same line twice,
`nth` says which one is meant.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from tests.mutate.changes import Change, Key

FILE = Path(__file__).with_name("equivalent.toml")
KEYS = ("module", "function", "line", "before", "after")


def reasons(file: Path = FILE) -> dict[Key, str]:
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("equivalent", [])
    found: dict[Key, str] = {}
    for row in rows:
        module, function, line, before, after = (row[key] for key in KEYS)
        found[module, function, line, before, after, row.get("nth", 1)] = row["why"]
    return found


def outdated(changes: Iterable[Change], file: Path = FILE) -> list[Key]:
    """Rows whose line was changed since: nobody knows any more whether they hold."""
    present = {change.key for change in changes}
    return [key for key in reasons(file) if key not in present]


def row_for(change: Change) -> str:
    """A row to fill in, for one who has made sure."""
    *texts, nth = change.key
    lines = [f"{key} = {_quoted(str(value))}" for key, value in zip(KEYS, texts, strict=True)]
    which = [f"nth = {nth}"] if nth > 1 else []
    return "\n".join(["[[equivalent]]", *lines, *which, 'why = ""'])


def _quoted(text: str) -> str:
    if "'" not in text:
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
