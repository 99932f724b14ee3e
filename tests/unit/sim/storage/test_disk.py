"""The simulated disk behaves like a disk: what is synced stays, what is not may go."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import apsw
import pytest

from sim.storage.disk import SECTOR_BYTES, SimDisk, exchange

OPEN_FLAGS = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_READWRITE


@pytest.fixture
def disk() -> Iterator[SimDisk]:
    disk = SimDisk(1)
    yield disk
    disk.close()


def open_file(disk: SimDisk, name: str = "file") -> apsw.VFSFile:
    return disk._vfs.xOpen(name, [OPEN_FLAGS, 0])  # type: ignore[return-value]


def survivors(write_bytes: int) -> Counter[str]:
    """What became of one unsynced write behind a synced one, over many seeds."""
    seen: Counter[str] = Counter()
    for seed in range(200):
        disk = SimDisk(seed)
        file = open_file(disk)
        file.xWrite(b"o" * write_bytes, 0)
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
        file.xWrite(b"n" * write_bytes, 0)
        disk.cut_power()
        disk.restore()
        content = disk.read_file("file")
        assert len(content) == write_bytes
        for start in range(0, write_bytes, SECTOR_BYTES):
            assert len(set(content[start : start + SECTOR_BYTES])) == 1  # a sector is never torn
        kinds = {b"o": "lost", b"n": "kept"}
        seen[kinds.get(bytes(sorted(set(content))), "torn")] += 1
        disk.close()
    return seen


def test_an_unsynced_write_is_kept_lost_or_torn() -> None:
    assert set(survivors(4 * SECTOR_BYTES)) == {"kept", "lost", "torn"}


def test_one_sector_is_kept_or_lost() -> None:
    assert set(survivors(SECTOR_BYTES)) == {"kept", "lost"}


def test_a_synced_write_stays(disk: SimDisk) -> None:
    file = open_file(disk)
    file.xWrite(b"x" * 5000, 3)
    file.xSync(apsw.SQLITE_SYNC_NORMAL)
    disk.cut_power()
    disk.restore()
    assert disk.read_file("file") == b"\0" * 3 + b"x" * 5000


def test_a_lying_disk_loses_synced_writes() -> None:
    contents = set()
    for seed in range(40):
        disk = SimDisk(seed)
        disk.lies_about_sync = True
        file = open_file(disk)
        file.xWrite(b"x", 0)
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
        disk.cut_power()
        disk.restore()
        contents.add(disk.read_file("file") if disk.names() else None)
        disk.close()
    assert contents == {None, b"", b"x"}


def test_a_file_that_was_never_synced_may_vanish() -> None:
    seen = set()
    for seed in range(40):
        disk = SimDisk(seed)
        open_file(disk)
        disk.cut_power()
        disk.restore()
        seen.add(tuple(disk.names()))
        disk.close()
    assert seen == {(), ("file",)}


@pytest.mark.parametrize("synced", [True, False])
def test_a_deleted_file_may_come_back_unless_the_directory_was_synced(synced: bool) -> None:
    seen = set()
    for seed in range(40):
        disk = SimDisk(seed)
        open_file(disk).xSync(apsw.SQLITE_SYNC_NORMAL)
        disk._vfs.xDelete("file", synced)
        assert disk.names() == []
        disk.cut_power()
        disk.restore()
        seen.add(tuple(disk.names()))
        disk.close()
    assert seen == ({()} if synced else {(), ("file",)})


def test_the_power_goes_in_the_middle_of_the_chosen_operation(disk: SimDisk) -> None:
    file = open_file(disk)
    disk.cut_after(2)
    file.xWrite(b"one", 0)
    with pytest.raises(apsw.IOError, match="power was cut"):
        file.xWrite(b"two", 0)
    assert not disk.powered
    for access in (file.xFileSize, lambda: file.xRead(1, 0), lambda: file.xTruncate(0)):
        with pytest.raises(apsw.IOError, match="no power"):
            access()


def test_a_program_from_before_the_cut_never_touches_the_disk_again(disk: SimDisk) -> None:
    file = open_file(disk)
    file.xSync(apsw.SQLITE_SYNC_NORMAL)
    disk.cut_power()
    disk.restore()
    with pytest.raises(apsw.IOError, match="no power"):
        file.xWrite(b"ghost", 0)
    assert disk.read_file("file") == b""


def test_the_same_seed_tears_the_same_way() -> None:
    def torn(seed: int) -> bytes:
        disk = SimDisk(seed)
        file = open_file(disk)
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
        for number in range(32):
            file.xWrite(bytes([number]) * 1500, number * 1000)
        disk.cut_power()
        disk.restore()
        disk.close()
        return disk.read_file("file")

    assert torn(7) == torn(7)
    assert torn(7) != torn(8)


def test_two_disks_are_two_worlds(disk: SimDisk) -> None:
    other = SimDisk(1)
    assert other.vfs_name != disk.vfs_name
    open_file(disk)
    assert other.names() == []
    other.close()


def test_a_clone_is_a_copy(disk: SimDisk) -> None:
    disk.write_file("file", b"content")
    copy = disk.clone(2)
    disk.write_file("file", b"changed")
    assert copy.read_file("file") == b"content"
    copy.close()


def test_what_a_cut_would_leave_is_torn_alike_and_the_disk_goes_on(disk: SimDisk) -> None:
    file = open_file(disk)
    file.xWrite(b"o" * 4 * SECTOR_BYTES, 0)
    file.xSync(apsw.SQLITE_SYNC_NORMAL)
    file.xWrite(b"n" * 4 * SECTOR_BYTES, 0)
    chance = random.Random(1)
    found = {disk.after_cut(chance)["file"] for _ in range(200)}
    # Each of four sectors is old or new, and each way is drawn.
    assert len(found) == 16
    assert file.xRead(1, 0) == b"n"
    assert disk.read_file("file") == b"n" * 4 * SECTOR_BYTES


def test_a_disk_that_holds_other_files_forgets_its_own(disk: SimDisk) -> None:
    file = open_file(disk)
    file.xWrite(b"own", 0)
    exchange(disk, {"other": b"theirs"})
    assert disk.names() == ["other"]
    with pytest.raises(apsw.IOError, match="no power"):
        file.xRead(1, 0)
    disk.cut_power()
    disk.restore()
    assert disk.read_file("other") == b"theirs"


def test_a_full_disk_refuses_growth_but_not_overwriting(disk: SimDisk) -> None:
    file = open_file(disk)
    file.xWrite(b"x" * 100, 0)
    disk.size_max_bytes = 100
    file.xWrite(b"y" * 100, 0)
    with pytest.raises(apsw.FullError):
        file.xWrite(b"y", 100)


def test_locks_keep_a_second_writer_out(disk: SimDisk) -> None:
    first, second = open_file(disk), open_file(disk)
    first.xLock(apsw.SQLITE_LOCK_SHARED)
    second.xLock(apsw.SQLITE_LOCK_SHARED)
    first.xLock(apsw.SQLITE_LOCK_RESERVED)
    assert second.xCheckReservedLock()
    with pytest.raises(apsw.BusyError):
        second.xLock(apsw.SQLITE_LOCK_RESERVED)
    with pytest.raises(apsw.BusyError):
        first.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)
    second.xUnlock(apsw.SQLITE_LOCK_NONE)
    first.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)
    with pytest.raises(apsw.BusyError):
        second.xLock(apsw.SQLITE_LOCK_SHARED)
