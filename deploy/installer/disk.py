"""The one door to the disk for everything that an installer changes.

What was written is on the medium only after a sync; before that a power cut may lose it, empty it
or keep half of it, and may undo a rename whose folder was not synced. The functions below are the
only ways in which a single file or link is replaced, so that there is the old one or the new one.
The tests stand a torn disk in this door and cut the power at every single operation.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from kit.release_files import FILE, FOLDER, LINK, NOTHING, Files, walk

__all__ = [
    "FILE",
    "FOLDER",
    "LINK",
    "NOTHING",
    "Disk",
    "make_folders",
    "remove_if_there",
    "remove_tree",
    "replace_file",
    "replace_link",
    "walk",
]


class Disk(Files):
    """This machine's own disk."""

    # ---- changing ----

    def make_folder(self, path: Path, mode: int) -> None:
        path.mkdir(mode=mode)
        path.chmod(mode)  # whatever the umask says: the unit's own user has to read it

    def write(self, path: Path, data: bytes, mode: int) -> None:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)

    def rename(self, old: Path, new: Path) -> None:
        old.replace(new)

    def link(self, target: str, path: Path) -> None:
        path.symlink_to(target)

    def remove(self, path: Path) -> None:
        path.unlink()

    def remove_folder(self, path: Path) -> None:
        path.rmdir()

    # ---- making it last ----

    def sync(self, path: Path) -> None:
        """One file, or one folder's own list of names."""
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def sync_all(self, path: Path) -> None:
        """Everything on the file system of `path`, also what other programs wrote there.

        One call for thousands of files. Unlike `os.sync` it reports what could not be written.
        """
        handle = os.open(path, os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).syncfs(handle) != 0:
                error = ctypes.get_errno()
                raise OSError(error, os.strerror(error), str(path))
        finally:
            os.close(handle)


def make_folders(disk: Disk, path: Path, mode: int = 0o755) -> None:
    """The folder and those above it; each is there for good before the next one is made."""
    if disk.kind(path) != NOTHING:
        return
    make_folders(disk, path.parent)
    disk.make_folder(path, mode)
    disk.sync(path.parent)


def replace_file(disk: Disk, path: Path, data: bytes, mode: int) -> None:
    make_folders(disk, path.parent)
    temporary = _cleared(disk, path)
    disk.write(temporary, data, mode)
    disk.sync(temporary)
    disk.rename(temporary, path)
    disk.sync(path.parent)


def replace_link(disk: Disk, path: Path, target: str) -> None:
    if disk.kind(path) == LINK and disk.target(path) == target:
        # It may be there only until the power fails: who made it was perhaps cut off before a sync.
        disk.sync(path.parent)
        return
    make_folders(disk, path.parent)
    temporary = _cleared(disk, path)
    disk.link(target, temporary)
    disk.rename(temporary, path)
    disk.sync(path.parent)


def _cleared(disk: Disk, path: Path) -> Path:
    """Where the new one is made; what a power cut left there goes."""
    temporary = path.with_name(path.name + ".new")
    remove_if_there(disk, temporary)
    return temporary


def remove_if_there(disk: Disk, path: Path) -> None:
    if disk.kind(path) != NOTHING:
        disk.remove(path)


def remove_tree(disk: Disk, folder: Path) -> None:
    """A folder and all that is in it, or a single file or link."""
    if disk.kind(folder) != FOLDER:
        remove_if_there(disk, folder)
        return
    for name in disk.names(folder):
        remove_tree(disk, folder / name)
    disk.remove_folder(folder)
