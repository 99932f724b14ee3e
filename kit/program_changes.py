"""The last changes of a unit's program: kept by whoever installs them, read by the table that runs.

Newer software may have written more than is known here; that is passed over, so that a program that
was taken back still knows what happened.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from kit.program_news import UPDATE_FOLDER

CHANGES_FILE: Final = UPDATE_FOLDER / "changes.json"
PENDING_FILE: Final = UPDATE_FOLDER / "pending.json"
HERE_FILE: Final = Path("/usr/lib/underfelt/program.json")
FILE_BYTES_MAX: Final = 64 * 1024
STICK: Final = "stick"
ROLLOUT: Final = "roll-out"

Read = TypeVar("Read")


@dataclass(frozen=True)
class Change:
    wall_s: int
    before: str
    version: str
    result: str
    reason: str = ""
    how: str = STICK
    digest: str = ""  # of the bundle, where it came from the manager

    def line(self) -> str:
        """For people: when, from what to what, how, and what came of it."""
        at = time.strftime("%Y-%m-%d %H:%M", time.gmtime(self.wall_s))
        said = f"{at} UTC: {self.before} -> {self.version}, by {self.how}: {self.result}"
        return f"{said} ({self.reason})" if self.reason else said


@dataclass(frozen=True)
class Pending:
    """A program that is on the other slot and has not proven itself yet."""

    slot: str
    version: str
    before: str  # the version that runs until then
    enrolled: bool  # what the manager had welcomed before, it must welcome again
    tried: bool = False
    reason: str = ""  # why it has not proven itself, where it could still say so
    how: str = STICK
    digest: str = ""


def row_of(kind: type[Read], told: Any) -> Read | None:
    """None for what is no such row; fields that nobody here knows are passed over."""
    if not isinstance(told, Mapping):
        return None
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    try:
        return kind(**{name: value for name, value in told.items() if name in known})
    except TypeError:
        return None


def read_changes(file: Path = CHANGES_FILE) -> list[Change]:
    """Newest last; none when they cannot be read."""
    told = _read(file)
    rows = [row_of(Change, each) for each in told] if isinstance(told, list) else []
    return [each for each in rows if each is not None and isinstance(each.wall_s, int)]


def read_pending(file: Path = PENDING_FILE) -> Pending | None:
    return row_of(Pending, _read(file))


def read_version(file: Path = HERE_FILE) -> str:
    """Of the program that this slot holds; "" where there is no image."""
    told = _read(file)
    return str(told.get("version", "")) if isinstance(told, Mapping) else ""


def _read(file: Path) -> Any:
    try:
        with file.open("rb") as opened:
            return json.loads(opened.read(FILE_BYTES_MAX))
    except (OSError, ValueError):
        return None
