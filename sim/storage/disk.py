"""A disk in memory that behaves like one when the power goes: an SQLite VFS for the simulator.

It alone knows which bytes have reached the medium. Until a file is synced, each of its writes is
kept, lost or torn sector by sector at a power cut, as the seed decides. It can also lie about
syncing, fill up, turn read-only and fail. What the files mean is not known here, and nothing
ever touches the real disk.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import apsw

from sim.storage.disk_file import SECTOR_BYTES, DiskFile

__all__ = ["SECTOR_BYTES", "Operation", "SimDisk", "exchange"]

Operation = Literal["read", "write", "sync"]

_numbers: Final = itertools.count(1)


class _DirectoryChange(NamedTuple):
    """A name that appeared or went; durable only when synced, and only in order."""

    name: str
    file: DiskFile | None


@dataclass
class _Directory:
    live: dict[str, DiskFile] = field(default_factory=dict)
    durable: dict[str, DiskFile] = field(default_factory=dict)
    pending: list[_DirectoryChange] = field(default_factory=list)

    def change(self, name: str, file: DiskFile | None) -> None:
        _apply(self.live, _DirectoryChange(name, file))
        self.pending.append(_DirectoryChange(name, file))

    def keep(self, count: int) -> None:
        """Makes the first pending changes durable: a file system does not reorder its names."""
        for change in self.pending[:count]:
            _apply(self.durable, change)
        del self.pending[:count]


def _apply(names: dict[str, DiskFile], change: _DirectoryChange) -> None:
    if change.file is None:
        names.pop(change.name, None)
    else:
        names[change.name] = change.file


class SimDisk:
    """One simulated disk. Several may exist; SQLite finds each by its `vfs_name`."""

    def __init__(self, seed: int | random.Random) -> None:
        self.chance = seed if isinstance(seed, random.Random) else random.Random(seed)
        self.vfs_name = f"sim-disk-{next(_numbers)}"
        self.powered = True
        self.lies_about_sync = False
        self.read_only = False
        self.size_max_bytes: int | None = None
        self.failing: set[Operation] = set()
        self.operation_count = 0  # writes, truncations, syncs, creations and deletions so far
        self.generation = 0  # counts power cuts: a program from before one holds dead handles
        self.on_cut: Callable[[], None] | None = None  # the power went, here and now
        self.on_change: Callable[[], None] | None = None  # something was written or synced
        self._cut_at_operation: int | None = None
        self._directory = _Directory()
        self._vfs = _SimVfs(self)

    def close(self) -> None:
        """Takes the disk away from SQLite. Files opened on it must be closed before."""
        self._vfs.unregister()

    def cut_after(self, operations: int) -> None:
        """Cuts the power in the middle of the n-th changing operation from now."""
        assert operations > 0
        self._cut_at_operation = self.operation_count + operations

    def cancel_cut(self) -> None:
        self._cut_at_operation = None

    def cut_power(self) -> None:
        """Now: what was not synced is kept, lost or torn, and every access fails."""
        if not self.powered:
            return
        self.powered = False
        self.generation += 1
        self._cut_at_operation = None
        self._directory.keep(self.chance.randint(0, len(self._directory.pending)))
        self._directory.pending.clear()
        for file in self._directory.durable.values():
            file.lose_power(self.chance)
        if self.on_cut is not None:
            self.on_cut()

    def restore(self) -> None:
        """Power again: the files are what the medium holds. A disk that has power is left alone."""
        if self.powered:
            return
        self.powered = True
        self._directory.live = dict(self._directory.durable)

    # What a test or a scenario may do to the files from outside.

    def names(self) -> list[str]:
        return sorted(self._directory.live)

    def read_file(self, name: str) -> bytes:
        return bytes(self._directory.live[name].live)

    def write_file(self, name: str, content: bytes) -> None:
        """Puts a file there, durably: a damaged sector, a restored image."""
        self._directory.keep(len(self._directory.pending))
        file = DiskFile(bytearray(content), bytearray(content))
        self._directory.live[name] = self._directory.durable[name] = file

    def after_cut(self, chance: random.Random) -> dict[str, bytes]:
        """The files as they would be found if the power went now. This disk goes on."""
        names, pending = dict(self._directory.durable), self._directory.pending
        for change in pending[: chance.randint(0, len(pending))]:
            _apply(names, change)
        return {name: bytes(file.after_cut(chance)) for name, file in names.items()}

    def clone(self, seed: int | random.Random) -> SimDisk:
        """Another disk with the same files: a copied disk. Without power, what the medium holds."""
        copy = SimDisk(seed)
        files = self._directory.live if self.powered else self._directory.durable
        for name in sorted(files):
            copy.write_file(name, bytes(files[name].live))
        return copy

    # What the VFS asks.

    def open_file(self, name: str | None, create: bool) -> DiskFile:
        self.check_power(self.generation)
        if name is None:
            return DiskFile()  # a temporary file has no name and is never durable
        file = self._directory.live.get(name)
        if file is None:
            if not create or self.read_only:
                raise apsw.CantOpenError(f"the disk has no file {name}")
            file = DiskFile()
            self._directory.change(name, file)
            self.changing()
        return file

    def exists(self, name: str) -> bool:
        self.check_power(self.generation)
        return name in self._directory.live

    def delete(self, name: str, sync_directory: bool) -> None:
        self.check_power(self.generation)
        self.check_writable()
        if name not in self._directory.live:
            return
        self._directory.change(name, None)
        self.changing()
        if sync_directory and not self.lies_about_sync:
            self._directory.keep(len(self._directory.pending))

    def sync(self, file: DiskFile) -> None:
        self.changing()
        self.check_not_failing("sync")
        if self.lies_about_sync:
            return
        file.sync()
        # As a journaling file system does: syncing any file makes all names durable.
        self._directory.keep(len(self._directory.pending))

    def check_room(self, file: DiskFile, size_bytes: int) -> None:
        """Refuses a file that would grow past the end of the disk."""
        if self.size_max_bytes is None:
            return
        used_bytes = sum(len(each.live) for each in self._directory.live.values())
        if used_bytes + size_bytes - len(file.live) > self.size_max_bytes:
            raise apsw.FullError("the disk is full")

    def check_power(self, generation: int) -> None:
        if not self.powered or generation != self.generation:
            raise apsw.IOError("the disk has no power")

    def check_writable(self) -> None:
        if self.read_only:
            raise apsw.ReadOnlyError("the disk is read-only")

    def check_not_failing(self, operation: Operation) -> None:
        if operation in self.failing:
            raise apsw.IOError(f"the disk cannot {operation}")

    def changing(self) -> None:
        """Counts a changing operation; the power may go in the middle of it."""
        self.operation_count += 1
        if self.on_change is not None:
            self.on_change()
        if self.operation_count == self._cut_at_operation:
            self.cut_power()
            raise apsw.IOError("the power was cut")


def exchange(disk: SimDisk, files: Mapping[str, bytes]) -> None:
    """These files and no others, durably: another medium was put in. Old handles are dead."""
    disk.generation += 1
    disk._directory = _Directory()  # noqa: SLF001 - of this module
    for name, content in files.items():
        disk.write_file(name, content)


class _SimVfs(apsw.VFS):
    """SQLite's view of one disk."""

    def __init__(self, disk: SimDisk) -> None:
        self._disk = disk
        super().__init__(disk.vfs_name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _SimHandle:  # type: ignore[override]  # noqa: N802
        plain = name.filename() if isinstance(name, apsw.URIFilename) else name
        file = self._disk.open_file(plain, bool(flags[0] & apsw.SQLITE_OPEN_CREATE))
        flags[1] = flags[0]
        return _SimHandle(self._disk, file)

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        return self._disk.exists(pathname)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._disk.delete(filename, syncdir)

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name

    def xSleep(self, microseconds: int) -> int:  # noqa: N802
        return microseconds  # time is virtual; nobody waits

    def xCurrentTime(self) -> float:  # noqa: N802
        return 2461000.5

    def xCurrentTimeInt64(self) -> int:  # noqa: N802
        return 212_630_443_200_000


class _SimHandle:
    """An open file. It dies with the power, even when the power comes back."""

    def __init__(self, disk: SimDisk, file: DiskFile) -> None:
        self._disk = disk
        self._file = file
        self._generation = disk.generation
        self._persist_wal = False

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        disk = self._disk
        if disk.failing or not disk.powered or self._generation != disk.generation:
            disk.check_power(self._generation)
            disk.check_not_failing("read")
        return bytes(self._file.live[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._check_change()
        if self._disk.size_max_bytes is not None:
            self._disk.check_room(self._file, max(len(self._file.live), offset + len(data)))
        self._file.write(data, offset)
        self._disk.changing()

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._check_change()
        self._file.truncate(newsize)
        self._disk.changing()

    def _check_change(self) -> None:
        disk = self._disk
        if disk.powered and self._generation == disk.generation and not disk.failing:
            if disk.read_only:
                disk.check_writable()
            return
        disk.check_power(self._generation)
        disk.check_writable()
        disk.check_not_failing("write")

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.check_power(self._generation)
        self._disk.sync(self._file)

    def xFileSize(self) -> int:  # noqa: N802
        self._disk.check_power(self._generation)
        return len(self._file.live)

    def xLock(self, level: int) -> None:  # noqa: N802
        self._disk.check_power(self._generation)
        self._file.lock(self, level)

    def xUnlock(self, level: int) -> None:  # noqa: N802
        self._file.unlock(self, level)

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        return self._file.is_reserved()

    def xClose(self) -> None:  # noqa: N802
        self._file.unlock(self, apsw.SQLITE_LOCK_NONE)

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: N802
        if op != apsw.SQLITE_FCNTL_PERSIST_WAL:
            return False
        flag = ctypes.c_int.from_address(ptr)
        if flag.value < 0:
            flag.value = int(self._persist_wal)  # SQLite asks
        else:
            self._persist_wal = bool(flag.value)
        return True

    def xSectorSize(self) -> int:  # noqa: N802
        return SECTOR_BYTES

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        # As on Linux: a torn write never harms bytes that were not written.
        return apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE
