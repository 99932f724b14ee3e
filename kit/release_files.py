"""What a release is made of: every file and link in its folder, held against its MANIFEST.

The installer writes the manifest, and the installed program holds itself against it at each start.
It needs nothing but Python's own library, because an installer runs where nothing else is there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FILE: Final = "file"
FOLDER: Final = "folder"
LINK: Final = "link"
NOTHING: Final = ""
MANIFEST: Final = "MANIFEST"
SIGNATURE: Final = "MANIFEST.sig"
NOT_LISTED: Final = frozenset({MANIFEST, SIGNATURE})


class Files:
    """Looks at a disk, and changes nothing."""

    def kind(self, path: Path) -> str:
        if path.is_symlink():
            return LINK
        if path.is_dir():
            return FOLDER
        return FILE if path.exists() else NOTHING

    def names(self, folder: Path) -> list[str]:
        return sorted(os.listdir(folder))

    def read(self, path: Path) -> bytes:
        """From the medium where that is possible, not from what the kernel still remembers."""
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            return file.read()

    def target(self, link: Path) -> str:
        return os.readlink(link)

    def mode(self, path: Path) -> int:
        return path.stat().st_mode & 0o777


def walk(files: Files, folder: Path, below: str = "") -> Iterator[str]:
    """Every file and link below a folder, by its path from there."""
    for name in files.names(folder / below):
        path = f"{below}{name}"
        if files.kind(folder / path) == FOLDER:
            yield from walk(files, folder, f"{path}/")
        else:
            yield path


def manifest_of(files: Files, folder: Path) -> bytes:
    """The manifest that this folder deserves as it is now."""
    found = {path: _value(files, folder / path) for path in _listed(files, folder)}
    return (json.dumps(found, indent=0, sort_keys=True) + "\n").encode()


def damage(files: Files, folder: Path) -> str:
    """What is wrong with a release, "" when it is whole."""
    if files.kind(folder) != FOLDER or files.kind(folder / MANIFEST) != FILE:
        return "it was never finished"
    try:
        wanted = json.loads(files.read(folder / MANIFEST))
    except ValueError:
        return f"its {MANIFEST} is damaged"
    if not isinstance(wanted, dict) or not wanted:
        return f"its {MANIFEST} is damaged"
    there = set(_listed(files, folder))
    for path in sorted(wanted.keys() | there):
        if path not in there:
            return f"{path} is missing"
        if path not in wanted:
            return f"{path} does not belong to it"
        if _value(files, folder / path) != wanted[path]:
            return f"{path} is damaged"
    return ""


def _listed(files: Files, folder: Path) -> list[str]:
    return [path for path in walk(files, folder) if path not in NOT_LISTED]


def _value(files: Files, path: Path) -> str:
    """What a file or link is, in one line."""
    if files.kind(path) == LINK:
        return f"-> {files.target(path)}"
    return f"{files.mode(path):04o} {hashlib.sha256(files.read(path)).hexdigest()}"
