"""The manifest of a release: what every file and link in it has to be.

It is written last, after everything it names is on the medium, and it is what makes a folder a
release: a folder without one was never finished. It alone decides whether a release is whole.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from deploy.installer.disk import FILE, FOLDER, LINK, Disk, replace_file, walk

MANIFEST: Final = "MANIFEST"


def write_manifest(disk: Disk, folder: Path) -> None:
    """Ends the making of a release."""
    disk.sync_all(folder)
    found = {path: _value(disk, folder / path) for path in walk(disk, folder)}
    text = json.dumps(found, indent=0, sort_keys=True) + "\n"
    replace_file(disk, folder / MANIFEST, text.encode(), 0o644)


def damage(disk: Disk, folder: Path) -> str:
    """What is wrong with a release, "" when it is whole."""
    if disk.kind(folder) != FOLDER or disk.kind(folder / MANIFEST) != FILE:
        return "it was never finished"
    try:
        wanted = json.loads(disk.read(folder / MANIFEST))
    except ValueError:
        return f"its {MANIFEST} is damaged"
    if not isinstance(wanted, dict) or not wanted:
        return f"its {MANIFEST} is damaged"
    there = set(walk(disk, folder)) - {MANIFEST}
    for path in sorted(wanted.keys() | there):
        if path not in there:
            return f"{path} is missing"
        if path not in wanted:
            return f"{path} does not belong to it"
        if _value(disk, folder / path) != wanted[path]:
            return f"{path} is damaged"
    return ""


def _value(disk: Disk, path: Path) -> str:
    """What a file or link is, in one line."""
    if disk.kind(path) == LINK:
        return f"-> {disk.target(path)}"
    return f"{disk.mode(path):04o} {hashlib.sha256(disk.read(path)).hexdigest()}"
