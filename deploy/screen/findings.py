"""What keeps this unit from showing its table, as sentences for whoever stands before it.

It looks and changes nothing. Each finding says what happened and what to do.
"""

from __future__ import annotations

import json
import os
import re
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FREE_BYTES_MIN: Final = 4 << 20
NOTE_BYTES_MAX: Final = 2000
DAY_S: Final = 86_400
PANEL_PORT: Final = 8080
DISPLAY_PORT: Final = 8081
# Without its data a unit takes no table file, and without a table file it has nobody to enrol.
IN_USE_ORDER: Final = ("repair", "table", "enrol")
BUILT: Final = re.compile(r"\+(\d{8})\.(\d{6})")

NOT_MOUNTED: Final = (
    "The part of the disk that keeps this table's data cannot be read. Nothing on it was changed. "
    "A new disk and the Game Manager can bring the table back. To have this one repaired, put an "
    "empty file provision/repair-data on the disk's first partition, and switch the unit on."
)
READ_ONLY: Final = (
    "The part of the disk that keeps this table's data can no longer be written. The disk is "
    "failing: replace it."
)
FULL: Final = (
    "The part of the disk that keeps this table's data is full. Nothing was lost. Switch the unit "
    "off and on; if it stays full, take a bundle and call whoever looks after the software."
)
NO_TABLE_FILE: Final = (
    "This unit has no table file yet. Put it on the disk's first partition as provision/table.toml."
)
STARTING: Final = "The table is starting."


@dataclass(frozen=True)
class Place:
    """Where the unit's parts lie; elsewhere in a test."""

    data: Path = Path("/data")
    mounts: Path = Path("/proc/mounts")
    notes: Path = Path("/run/underfelt-notes")
    table_file: Path = Path("/data/settings/table.toml")
    program: Path = Path("/usr/lib/underfelt/program.json")
    wall_s: Callable[[], float] = time.time


def findings(place: Place) -> list[str]:
    """What is wrong, the worst first; the last line when nothing is: it only takes a moment."""
    found = [*_of_the_data(place), *_of_the_clock(place), *_noted(place)]
    if not found and not place.table_file.exists():
        found = [NO_TABLE_FILE]
    return found or [STARTING]


def _of_the_data(place: Place) -> Iterator[str]:
    rows = [line.split() for line in place.mounts.read_text("utf-8").splitlines()]
    options = [row[3].split(",") for row in rows if row[1] == str(place.data)]
    if not options:
        yield NOT_MOUNTED
    elif "ro" in options[-1]:
        yield READ_ONLY
    elif _free_bytes(place.data) < FREE_BYTES_MIN:
        yield FULL


def _free_bytes(folder: Path) -> int:
    told = os.statvfs(folder)
    return told.f_bavail * told.f_frsize


def _of_the_clock(place: Place) -> Iterator[str]:
    """Its own program is from then, so it is later than that."""
    built = BUILT.search(program_version(place))
    if built is None:
        return
    built_s = time.mktime(time.strptime(built[1] + built[2], "%Y%m%d%H%M%S")) - time.timezone
    if place.wall_s() < built_s - DAY_S:
        today = time.strftime("%Y-%m-%d %H:%M", time.gmtime(place.wall_s()))
        yield (
            f"The unit's clock says {today} UTC, which is before its own program was made. With a "
            "wrong clock it cannot trust the Game Manager. It sets itself when the network has a "
            "time server: look at the cable."
        )


def _noted(place: Place) -> Iterator[str]:
    """What was wrong with the files that a technician has provided, in the order of their use."""
    for note in sorted(place.notes.glob("[!.]*"), key=_turn):
        yield note.read_text("utf-8", errors="replace")[:NOTE_BYTES_MAX].strip()


def _turn(note: Path) -> tuple[int, str]:
    known = note.name in IN_USE_ORDER
    return IN_USE_ORDER.index(note.name) if known else len(IN_USE_ORDER), note.name


def program_version(place: Place) -> str:
    try:
        return str(json.loads(place.program.read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def ports(place: Place) -> tuple[int, int]:
    """Of the panel and of the display, as the table's file has them."""
    try:
        web = tomllib.loads(place.table_file.read_text("utf-8")).get("web", {})
        return int(web.get("port", PANEL_PORT)), int(web.get("display_port", DISPLAY_PORT))
    except (OSError, ValueError, TypeError):
        return PANEL_PORT, DISPLAY_PORT
