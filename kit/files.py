"""Small files that are on the medium when a call returns; a power cut leaves the old or the new."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OWNER_ONLY = 0o600
PRIVATE_FOLDER = 0o700
AS_USUAL = 0o666  # as far as the process's mask lets it


def write_durably(path: Path, data: str | bytes, mode: int = AS_USUAL) -> None:
    """Writes a whole file, or replaces one, in one step."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)  # of a write that the power cut
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def write_private(path: Path, data: bytes) -> None:
    """The same for what only its owner may read, which nobody else could for an instant."""
    write_durably(path, data, OWNER_ONLY)


@contextmanager
def files_for_the_owner_only() -> Iterator[None]:
    """What is made meanwhile, nobody else may read."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def private_folder(path: Path) -> Path:
    """The folder, made where it was missing, and closed to everybody but its owner."""
    path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) != PRIVATE_FOLDER:
        path.chmod(PRIVATE_FOLDER)
    return path


def sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def allow_open_files(count: int) -> int:
    """Lets this process and its children have so many; how many it got, where that is fewer."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = count if most == resource.RLIM_INFINITY else min(count, most)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    return allowed
