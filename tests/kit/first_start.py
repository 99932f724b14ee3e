"""A unit from a flashed disk and two files to its open table, as technician and operator do it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.kit.bench_disk import books_disk, table_text
from tests.kit.booted_unit import UnitDisk

OPERATOR = "cd /run/bench && PYTHONPATH=/run/bench venv/bin/python -m manager"
ENROLLED = "is enrolled; its certificate is used from the next connection on"
ON_PANEL = "This unit waits to be enrolled."
NUMBER = re.compile(r"Its number is (\d{3}) (\d{3})")
CALIBRATED = (
    "systemctl stop underfelt && underfelt calibrate --empty-only </dev/null"
    " && systemctl start underfelt"
)


@dataclass(frozen=True)
class FirstStart:
    """What was seen on the way, and the disk as it was when the unit was switched off."""

    disk: UnitDisk
    digits: str
    shown: str  # on the panel, while the operator compares
    lines: tuple[str, ...]
    view: dict[str, Any]


def started_first(image: Path, bench: Path, folder: Path) -> FirstStart:
    books, invitation = books_disk(folder)
    disk = replace(UnitDisk.flashed(image, folder), bench=bench, books=books)
    disk.provide("table.toml", table_text())
    disk.provide("enrol", invitation.line)
    with disk.booted() as guest:
        told = NUMBER.search(guest.wait_for("Its number is"))
        assert told
        digits = told[1] + told[2]
        guest.wait_for(ON_PANEL)  # which looks for it every two seconds
        shown = str(guest.view(state="fault")["guide"]["sentence"])
        approved = f"approve --data /run/books/data --unit UF-0001 --match {digits}"
        guest.run(f"{OPERATOR} {approved}")
        guest.wait_for(ENROLLED)
        guest.run(CALIBRATED, seconds=900)
        view = guest.view(state="open", seconds=600)
        guest.switch_off()
        return FirstStart(disk, digits, shown, tuple(guest.lines), view)
