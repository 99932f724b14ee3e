"""Power cuts beside a story that goes on: what the disk would hold if the power went now.

A story that is really cut pays for all that came before the cut. Here the story is played once, and
at each operation of its disk a copy of the medium is torn, as a cut would tear it. SQLite then
recovers every torn disk that is like no other. What our program finds there depends on the
database alone, so it opens and checks each different database once; what the outside world was told
by then is compared for each cut.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

import apsw

from sim.storage.disk import SimDisk, exchange

CHANGE_COUNTERS = 24, 92  # where SQLite's file format has them

Told = TypeVar("Told")
Found = TypeVar("Found")


class Readers(NamedTuple, Generic[Told, Found]):
    """How a story's disk is read after a cut."""

    path: str  # its database
    found: Callable[[SimDisk], Found]  # what our program makes of it; raises where it refuses
    compared: Callable[[Found, Told], None]  # raises where it is not what was told


class CutsBeside(Generic[Told, Found]):
    def __init__(
        self,
        disk: SimDisk,
        seed: int,
        told: Callable[[], Told],
        readers: Readers[Told, Found],
        known: dict[bytes, Found] | None = None,
        draws: int = 1,
    ) -> None:
        """`told` gives what the outside world knows now, as something that no longer changes.

        `known` are the databases that were opened before, of stories that write the same rows.
        """
        self._disk = disk
        self._chance = random.Random(f"cuts beside {seed}")
        self._told = told
        self._readers = readers
        self._draws = draws
        self._waiting: list[tuple[dict[str, bytes], Told]] = []
        self._images: set[bytes] = set()
        self._found: dict[bytes, Found] = {} if known is None else known
        self._other = SimDisk(0)
        disk.on_change = self._look

    @property
    def count(self) -> int:
        """How many cuts were tried, each with other bytes on the medium."""
        return len(self._images)

    def close(self) -> None:
        self._disk.on_change = None
        self._other.close()

    def _look(self) -> None:
        """In the middle of an operation of SQLite's, so the torn disk is only put aside."""
        for _ in range(self._draws):
            files = self._disk.after_cut(self._chance)
            image = _digest(files)
            if image not in self._images:
                self._images.add(image)
                self._waiting.append((files, self._told()))

    def check(self) -> None:
        """Tries every cut since the last call."""
        waiting, self._waiting = self._waiting, []
        for files, told in waiting:
            self._readers.compared(self._find(files), told)

    def _find(self, files: Mapping[str, bytes]) -> Found:
        exchange(self._other, files)
        database = recovered(self._other, self._readers.path)
        if database is None:
            exchange(self._other, files)
            return self._readers.found(self._other)  # which has to say why
        key = hashlib.sha256(database).digest()
        if key not in self._found:
            exchange(self._other, files)
            self._found[key] = self._readers.found(self._other)
        return self._found[key]


def _digest(files: Mapping[str, bytes]) -> bytes:
    covered = hashlib.sha256()
    for name in sorted(files):
        covered.update(b"%s %d " % (name.encode(), len(files[name])))
        covered.update(files[name])
    return covered.digest()


def recovered(disk: SimDisk, path: str) -> bytes | None:
    """Every page as SQLite finds it after a cut, None for a file that it refuses.

    Two numbers at its start count SQLite's own transactions; nobody of ours reads them.
    """
    try:
        connection = apsw.Connection(path, vfs=disk.vfs_name)
    except apsw.Error:
        return None
    try:
        # The log is only to be read: nothing is folded into the database here.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.pragma("locking_mode", "EXCLUSIVE")  # without it a log needs shared memory
        database = bytearray(connection.serialize("main") or b"")
    except apsw.Error:
        return None
    finally:
        connection.close(True)
    for start in CHANGE_COUNTERS:
        database[start : start + 4] = bytes(4)
    return bytes(database)
