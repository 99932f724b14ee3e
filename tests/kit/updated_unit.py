"""An enrolled unit that opens its table, then takes an update from a stick: one boot, two proofs.

An emulated machine computes for minutes until its table is open. So what is asked of a unit with an
open table is asked before the stick is plugged in, in the same boot.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit.booted_unit import Guest, UnitDisk, stick_with

WATCHDOG = "Using hardware watchdog"
NEWER = "9.0.0+20300101.000000"
WRITING = f"writing {NEWER} to the other slot"
TRIED = f"{NEWER} is booted once"
REFUSED = f"the update {NEWER} is refused"
UNPROVEN = "back to the program before"
PROVEN = f"{NEWER} has proven itself and is this unit's program now"


@dataclass(frozen=True)
class OpenTable:
    """What the unit says of itself when its table has opened."""

    view: dict[str, Any]
    failed_services: str
    has_watchdog: bool
    root_mount: list[str]  # its file system and the first of its options
    program: dict[str, Any]


@dataclass(frozen=True)
class Written:
    """A unit whose new program is on its other slot and was asked for, but never booted."""

    disk: UnitDisk
    before: OpenTable
    default_slot: str
    next_boot: str


@dataclass(frozen=True)
class Proven:
    """The same unit after the one boot that the new program was granted."""

    written: Written
    disk: UnitDisk
    slot: str
    version: str
    results: list[str]


def look_at(guest: Guest) -> OpenTable:
    view = guest.view(state="open", link="up", faults=[], seconds=600)
    guest.tell_cost(f"open after {view['uptime_s']:.1f} s of the guest's own time")
    return OpenTable(
        view,
        guest.run("systemctl --failed --no-legend").strip(),
        guest.said(WATCHDOG),
        guest.run("findmnt -no FSTYPE,OPTIONS /").split(",")[0].split(),
        json.loads(guest.run("underfelt program")),
    )


def opened_and_written(ready: UnitDisk, bundle: Path, folder: Path) -> Written:
    disk = ready.copy_to(folder)
    stick = stick_with(bundle, folder / "stick.img")
    with disk.booted() as guest:
        before = look_at(guest)
        guest.monitor.plug_in(stick)
        guest.wait_for(WRITING, unless=REFUSED)
        guest.tell_cost("self-test passed, RAUC begins")
        guest.wait_for(TRIED, unless=REFUSED)
        guest.tell_cost("written to the other slot")
        next_boot = guest.wait_until_off()
    return Written(disk, before, disk.default_slot(), next_boot)


def proven(written: Written) -> Proven:
    with written.disk.booted(written.next_boot) as guest:
        guest.wait_for(PROVEN, unless=UNPROVEN)
        guest.tell_cost("proven")
        guest.view(state="open", link="up", faults=[])
        return Proven(written, written.disk, slot(guest), version(guest), results(guest))


def slot(guest: Guest) -> str:
    return guest.run("sed -n 's/.*rauc.slot=\\([AB]\\).*/\\1/p' /proc/cmdline").strip()


def version(guest: Guest) -> str:
    told = json.loads(guest.run("cat /usr/lib/underfelt/program.json"))
    return str(told["version"])


def results(guest: Guest) -> list[str]:
    """How each change of the program ended, oldest first."""
    told = guest.run("cat /data/update/changes.json 2>/dev/null || echo '[]'")
    return [each["result"] for each in json.loads(told)]
