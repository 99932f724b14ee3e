"""A unit's disk held against published images. Disks are files here, laid out as the image is.

Mutations this catches: a slot that is not looked at, a kernel that is not, a digest over less than
the whole program, an unknown program that passes because the other slot is known.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from pathlib import Path
from random import Random

import pytest

from deploy.tech.commands.verify import main
from kit.command_line import CommandRefused

SECTOR = 512
ROW = struct.Struct("<B3sB3sII")
NO_ADDRESS = b"\0\0\0"
FIRST = {1: 8, 2: 64, 3: 192, 5: 328, 6: 592, 7: 856}  # in sectors
COUNT = {1: 32, 2: 128, 3: 128, 5: 256, 6: 256, 7: 64}
EXTENDED_AT, TABLE_BEFORE = 320, 8  # a logical part has its own table in front of it


def row(kind: int, first: int, count: int) -> bytes:
    return ROW.pack(0, NO_ADDRESS, kind, NO_ADDRESS, first, count)


def table(*rows: bytes) -> bytes:
    return bytes(446) + b"".join(rows).ljust(64, b"\0") + b"\x55\xaa"


class Disk:
    """As `sfdisk` lays it out: three primary parts, and three inside an extended one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(1024 * SECTOR))
        primary = [row(0x0C, FIRST[number], COUNT[number]) for number in (1, 2, 3)]
        self.put(0, table(*primary, row(0x05, EXTENDED_AT, 700)))
        for number, following in ((5, 6), (6, 7), (7, 0)):
            at = FIRST[number] - TABLE_BEFORE
            rows = [row(0x83, TABLE_BEFORE, COUNT[number])]
            if following:
                next_at = FIRST[following] - TABLE_BEFORE - EXTENDED_AT
                rows.append(row(0x05, next_at, TABLE_BEFORE + COUNT[following]))
            self.put(at, table(*rows))

    def put(self, sector: int, data: bytes) -> None:
        with self.path.open("r+b") as file:
            file.seek(sector * SECTOR)
            file.write(data)

    def install(self, slot: str, folder: Path) -> None:
        kernel, root = {"A": (2, 5), "B": (3, 6)}[slot]
        self.put(FIRST[kernel], (folder / "boot.vfat").read_bytes())
        self.put(FIRST[root], (folder / "root.squashfs").read_bytes())


def publish(folder: Path, seed: int) -> Path:
    folder.mkdir()
    chance, lines = Random(seed), []
    for name, sectors in (("boot.vfat", 128), ("root.squashfs", 199)):
        data = chance.randbytes(sectors * SECTOR)
        (folder / name).write_bytes(data)
        lines.append(f"{hashlib.sha256(data).hexdigest()}  {name}\n")
    (folder / "SHA256SUMS").write_text("".join(lines))
    return folder


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return publish(tmp_path / "0.1.0", 1)


@pytest.fixture
def second(tmp_path: Path) -> Path:
    return publish(tmp_path / "0.2.0", 2)


@pytest.fixture
def disk(tmp_path: Path, first: Path) -> Disk:
    made = Disk(tmp_path / "sdx")
    made.install("A", first)
    return made


def verify(disk: Disk, *words: object) -> int:
    return main([str(disk.path), *map(str, words)])


def test_a_new_disk_is_as_published(disk: Disk, first: Path) -> None:
    assert verify(disk, first) == 0


def test_after_an_update_both_slots_must_be_known(disk: Disk, first: Path, second: Path) -> None:
    disk.install("B", second)
    assert verify(disk, first) == 1
    assert verify(disk, first, second) == 0


def test_a_disk_without_any_program_is_not_as_published(tmp_path: Path, first: Path) -> None:
    assert verify(Disk(tmp_path / "blank"), first) == 1


@pytest.mark.parametrize("part", [2, 5])
@pytest.mark.parametrize("sector", [0, 60, 127])
def test_one_changed_bit_is_found(disk: Disk, first: Path, part: int, sector: int) -> None:
    data = disk.path.read_bytes()
    at = (FIRST[part] + sector) * SECTOR + 17
    disk.path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
    assert verify(disk, first) == 1


def test_the_seeded_digest_is_that_of_the_published_file(
    disk: Disk, first: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(disk, first, "--seed", "inspector 7") == 0
    published = (first / "root.squashfs").read_bytes()
    wanted = hmac.new(b"inspector 7", published, hashlib.sha256).hexdigest()
    assert wanted in capsys.readouterr().out


def test_what_is_no_disk_of_ours_is_one_sentence(tmp_path: Path, first: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(bytes(4096))
    with pytest.raises(CommandRefused, match="no partition table"):
        main([str(other), str(first)])
    other.write_bytes(table(row(0x0C, 8, 32)) + bytes(4096))
    with pytest.raises(CommandRefused, match="has no partition 2"):
        main([str(other), str(first)])
    with pytest.raises(CommandRefused, match="cannot be read"):
        main([str(tmp_path / "missing"), str(first)])


def test_a_folder_that_is_not_what_its_list_says_is_refused(disk: Disk, first: Path) -> None:
    (first / "root.squashfs").write_bytes(b"another one")
    with pytest.raises(CommandRefused, match="is not what"):
        verify(disk, first)
    with pytest.raises(CommandRefused, match="is no published image"):
        verify(disk, first.parent)
    with pytest.raises(CommandRefused, match="at least 8"):
        verify(disk, first, "--seed", "short")
