"""Writes the archive that Linux unpacks as its initial file system ("newc" cpio).

It alone knows the format. Every entry belongs to root and has the same date: the kernel keeps
neither, and an archive of the same files is then the same bytes.
"""

from __future__ import annotations

import stat
from pathlib import PurePosixPath

MAGIC = "070701"
TRAILER = "TRAILER!!!"
ALIGNMENT = 4


class Archive:
    """Entries in order; folders appear before what lies in them."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._folders: set[str] = set()
        self._count = 0

    def add_file(self, path: str, data: bytes, executable: bool = False) -> None:
        self._add_parents(path)
        self._add(path, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def add_folder(self, path: str) -> None:
        name = path.strip("/")
        if name and name not in self._folders:
            self._add_parents(name)
            self._folders.add(name)
            self._add(name, stat.S_IFDIR | 0o755, b"")

    def to_bytes(self) -> bytes:
        return b"".join([*self._parts, _entry(TRAILER, 0, 0, b"")])

    def _add_parents(self, path: str) -> None:
        for parent in reversed(PurePosixPath(path.strip("/")).parents[:-1]):
            self.add_folder(str(parent))

    def _add(self, path: str, mode: int, data: bytes) -> None:
        # The kernel takes entries of one number for one file, so each has its own.
        self._count += 1
        self._parts.append(_entry(path.strip("/"), self._count, mode, data))


def _entry(name: str, number: int, mode: int, data: bytes) -> bytes:
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    header = (MAGIC + "".join(f"{field:08X}" for field in fields)).encode("ascii")
    return _padded(header + encoded) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
