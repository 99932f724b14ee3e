"""Ends the making of a release: its manifest is written last, after all it names is on the medium.

It is what makes a folder a release: a folder without one was never finished.
"""

from __future__ import annotations

from pathlib import Path

from deploy.installer.disk import Disk, replace_file
from kit.release_files import MANIFEST, damage, manifest_of

__all__ = ["MANIFEST", "damage", "write_manifest"]


def write_manifest(disk: Disk, folder: Path) -> None:
    disk.sync_all(folder)
    replace_file(disk, folder / MANIFEST, manifest_of(disk, folder), 0o644)
