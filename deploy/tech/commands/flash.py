"""Write a unit's image to a disk (SD or eMMC), and read it back to be sure."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from deploy.tech.disks import System, TargetDisk, target_disk
from kit.command_line import CommandRefused, in_words

CHUNK_BYTES: Final = 4 << 20
# The partition table is written last: a disk that was pulled out too early does not boot by half.
HEAD_BYTES: Final = 1 << 20
SUMS: Final = "SHA256SUMS"
PER_CENT: Final = 100

Progress = Callable[[str, int, int], None]  # what is done, bytes so far, bytes in all
Ask = Callable[[str], str]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="underfelt-tech flash", description=__doc__)
    parser.add_argument("image", type=Path, metavar="DISK.img")
    parser.add_argument("disk", type=Path, metavar="/dev/sdX", help="a whole disk; `lsblk` lists")
    options = parser.parse_args(arguments)
    return flash(options.image, options.disk, System(), input, show_progress)


def flash(image: Path, device: Path, system: System, ask: Ask, progress: Progress) -> int:
    if not image.is_file():
        raise CommandRefused(f"There is no image {image}.")
    disk = target_disk(device, system)
    check_size(image, disk)
    digest = image_digest(image, progress)
    check_sums(image, digest)
    print(f"Everything on this disk will be lost. {disk.sentence}", file=sys.stderr)
    if ask(f"Type {disk.name} to go on: ").strip() != disk.name:
        raise CommandRefused("Nothing was written.")
    write(image, device, progress)
    if disk_digest(device, image.stat().st_size, progress) != digest:
        raise CommandRefused(f"{device} does not hold what was written to it. Use another disk.")
    print(f"{image} is on {device} and was read back. It can be pulled out.")
    return 0


def check_size(image: Path, disk: TargetDisk) -> None:
    size_bytes = image.stat().st_size
    if size_bytes > disk.size_bytes:
        raise CommandRefused(
            f"{disk.name} is too small: it has {disk.size_bytes / 1e9:.1f} GB, "
            f"and the image needs {size_bytes / 1e9:.1f} GB."
        )


def check_sums(image: Path, digest: str) -> None:
    """Holds the image against the list beside it, where there is one."""
    file = image.parent / SUMS
    if not file.exists():
        print(
            f"There is no {SUMS} beside the image: nobody says what it should be.", file=sys.stderr
        )
        return
    rows = [line.split() for line in file.read_text("utf-8").splitlines()]
    wanted = {row[1].lstrip("*"): row[0] for row in rows if len(row) == 2}
    if wanted.get(image.name) != digest:
        raise CommandRefused(f"{image} is not what {file} says. Fetch it again.")


def write(image: Path, device: Path, progress: Progress) -> None:
    size_bytes = image.stat().st_size
    done_bytes = 0
    try:
        # Exclusive: the kernel refuses a disk that somebody has mounted in the meantime.
        handle = os.open(device, os.O_WRONLY | os.O_EXCL)
        with open(handle, "wb", buffering=0) as disk, image.open("rb") as source:
            # A disk that boots nothing comes before one that boots half of two things.
            disk.write(bytes(min(HEAD_BYTES, size_bytes)))
            os.fsync(disk.fileno())
            source.seek(HEAD_BYTES)
            disk.seek(HEAD_BYTES)
            done_bytes = min(HEAD_BYTES, size_bytes)
            for chunk in _chunks(source.read):
                _write_all(disk.write, chunk)
                done_bytes += len(chunk)
                progress("writing", done_bytes, size_bytes)
            os.fsync(disk.fileno())
            source.seek(0)
            disk.seek(0)
            _write_all(disk.write, source.read(HEAD_BYTES))
            os.fsync(disk.fileno())
    except OSError as error:
        raise CommandRefused(
            f"{device} failed after {done_bytes / 1e6:.0f} MB, or was pulled out: "
            f"{in_words(error)} It boots nothing now; flash it again."
        ) from error


def image_digest(image: Path, progress: Progress) -> str:
    return _digest(image, image.stat().st_size, "reading the image", progress)


def disk_digest(device: Path, size_bytes: int, progress: Progress) -> str:
    """From the disk itself, not from what the kernel still remembers of it."""
    try:
        with device.open("rb", buffering=0) as disk:
            os.posix_fadvise(disk.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return _digest(device, size_bytes, "reading back", progress)
    except OSError as error:
        raise CommandRefused(
            f"{device} cannot be read back: {in_words(error)} Use another disk."
        ) from error


def _digest(path: Path, size_bytes: int, what: str, progress: Progress) -> str:
    digest, done_bytes = hashlib.sha256(), 0
    with path.open("rb", buffering=0) as file:
        # A disk is longer than what was written to it.
        while chunk := file.read(min(CHUNK_BYTES, size_bytes - done_bytes)):
            digest.update(chunk)
            done_bytes += len(chunk)
            progress(what, done_bytes, size_bytes)
    return digest.hexdigest()


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while chunk := read(CHUNK_BYTES):
        yield chunk


def _write_all(write: Callable[[memoryview], int], chunk: bytes) -> None:
    """A disk may take less than it is given."""
    rest = memoryview(chunk)
    while rest:
        rest = rest[write(rest) :]


def show_progress(what: str, done_bytes: int, size_bytes: int) -> None:
    if not sys.stderr.isatty():
        return
    part = done_bytes * PER_CENT // size_bytes
    bar = "#" * (part // 2)
    end = "\n" if done_bytes >= size_bytes else ""
    print(f"\r{what:<17} [{bar:<50}] {part:3} %", end=end, file=sys.stderr, flush=True)
