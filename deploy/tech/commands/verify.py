"""Hold a unit's disk against published images: every slot must be one of them, or empty."""

from __future__ import annotations

import argparse
import hashlib
import hmac
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from deploy.tech.commands.flash import SUMS
from kit.command_line import CommandRefused, in_words

SECTOR_BYTES: Final = 512
CHUNK_BYTES: Final = 4 << 20
EMPTY_BYTES: Final = 1 << 20
TABLE_AT: Final = 446
ROW: Final = struct.Struct("<B3sB3sII")  # flag, address, type, address, first sector, sectors
MARK: Final = b"\x55\xaa"
EXTENDED: Final = (0x05, 0x0F)
PRIMARY_COUNT: Final = 4
LOGICAL_COUNT_MAX: Final = 16
SLOTS: Final = {"A": (2, 5), "B": (3, 6)}  # kernel and root
SEED_CHARACTERS_MIN: Final = 8
SOUND, NOT_SOUND = 0, 1


@dataclass(frozen=True)
class Part:
    start_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class Image:
    """A folder as it was published: what a slot has to hold, byte for byte."""

    folder: Path
    kernel: bytes
    root: bytes
    kernel_bytes: int
    root_bytes: int


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="underfelt-tech verify", description=__doc__)
    parser.add_argument("disk", type=Path, metavar="/dev/sdX", help="or a copy of it in a file")
    parser.add_argument("images", type=Path, nargs="+", metavar="FOLDER", help="with SHA256SUMS")
    parser.add_argument("--seed", default="", metavar="TEXT", help="prints a seeded digest too")
    options = parser.parse_args(arguments)
    if options.seed and len(options.seed) < SEED_CHARACTERS_MIN:
        raise CommandRefused(f"A seed has at least {SEED_CHARACTERS_MIN} characters.")
    return verify(options.disk, [published(folder) for folder in options.images], options.seed)


def published(folder: Path) -> Image:
    """The image in a folder, whose files must be what its own list says."""
    try:
        rows = [line.split() for line in (folder / SUMS).read_text("utf-8").splitlines()]
        listed = {row[1].lstrip("*"): row[0] for row in rows if len(row) == 2}
        found: list[Any] = []
        for name in ("boot.vfat", "root.squashfs"):
            size_bytes = (folder / name).stat().st_size
            with (folder / name).open("rb") as file:
                digest = _digest(file, Part(0, size_bytes), hashlib.sha256())
            if digest.hex() != listed.get(name):
                raise CommandRefused(f"{folder / name} is not what {SUMS} beside it says.")
            found += [digest, size_bytes]
    except OSError as error:
        raise CommandRefused(f"{folder} is no published image: {in_words(error)}") from error
    return Image(folder, found[0], found[2], found[1], found[3])


def verify(disk: Path, images: list[Image], seed: str) -> int:
    try:
        with disk.open("rb", buffering=0) as file:
            parts = dict(partitions(file))
            missing = [number for pair in SLOTS.values() for number in pair if number not in parts]
            if missing:
                raise CommandRefused(f"{disk} is no unit's disk: it has no partition {missing[0]}.")
            known = [_slot(file, slot, parts, images, seed) for slot in SLOTS]
    except OSError as error:
        raise CommandRefused(f"{disk} cannot be read: {in_words(error)}") from error
    if None in known or not any(known):
        print(f"{disk} is NOT as published.")
        return NOT_SOUND
    print(f"{disk} holds what was published, and nothing else in its slots.")
    return SOUND


def _slot(
    file: BinaryIO, slot: str, parts: dict[int, Part], images: list[Image], seed: str
) -> bool | None:
    """True when it is one of the images, False when it is empty, None when nobody knows it."""
    kernel, root = (parts[number] for number in SLOTS[slot])
    for image in images:
        if image.root_bytes > root.size_bytes or image.kernel_bytes > kernel.size_bytes:
            continue
        of_root = Part(root.start_bytes, image.root_bytes)
        if _digest(file, of_root, hashlib.sha256()) != image.root:
            continue
        of_kernel = Part(kernel.start_bytes, image.kernel_bytes)
        if _digest(file, of_kernel, hashlib.sha256()) != image.kernel:
            print(f"slot {slot}: its program is {image.folder}, and its kernel is another one")
            return None
        print(f"slot {slot}: {image.folder}")
        if seed:
            seeded = _digest(file, of_root, hmac.new(seed.encode(), digestmod=hashlib.sha256))
            print(f"slot {slot}: seeded digest {seeded.hex()}")
        return True
    file.seek(root.start_bytes)
    if not any(file.read(min(EMPTY_BYTES, root.size_bytes))):
        print(f"slot {slot}: empty")
        return False
    print(f"slot {slot}: a program that is in none of these folders")
    return None


def partitions(file: BinaryIO) -> Iterator[tuple[int, Part]]:
    """By the numbers that Linux gives them: 1 to 4, and from 5 on those inside the fourth."""
    extended = 0
    for number, (kind, first, count) in enumerate(_rows(file, 0), 1):
        if kind in EXTENDED:
            extended = first
        elif kind and number <= PRIMARY_COUNT:
            yield number, _part(first, count)
    at = extended
    for number in range(5, 5 + LOGICAL_COUNT_MAX):
        if not at:
            return
        inside, following = _rows(file, at)[:2]
        yield number, _part(at + inside[1], inside[2])
        at = extended + following[1] if following[0] in EXTENDED else 0


def _part(first: int, count: int) -> Part:
    return Part(first * SECTOR_BYTES, count * SECTOR_BYTES)


def _rows(file: BinaryIO, sector: int) -> list[tuple[int, int, int]]:
    file.seek(sector * SECTOR_BYTES)
    data = file.read(SECTOR_BYTES)
    if len(data) < SECTOR_BYTES or data[-2:] != MARK:
        raise CommandRefused("There is no partition table on it.")
    rows = ROW.iter_unpack(data[TABLE_AT:-2])
    return [(kind, first, count) for _, _, kind, _, first, count in rows]


def _digest(file: BinaryIO, part: Part, digest: Any) -> bytes:
    """Of so many bytes from there on; a partition is longer than what was published."""
    file.seek(part.start_bytes)
    left_bytes = part.size_bytes
    while left_bytes and (chunk := file.read(min(CHUNK_BYTES, left_bytes))):
        digest.update(chunk)
        left_bytes -= len(chunk)
    return bytes(digest.digest())
