"""Flashing: which disks are refused, and that nothing half-written boots. Disks are files here."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.tech.commands import flash as flashing
from deploy.tech.commands.flash import HEAD_BYTES, flash
from deploy.tech.disks import System, target_disk
from kit.command_line import CommandRefused

SIZE_BYTES = 8 << 20
IMAGE_BYTES = 5 << 20


class Laptop:
    """A machine with one disk, `sdb`, that has one part; told as the kernel tells it."""

    def __init__(self, folder: Path) -> None:
        self.system = System(folder / "sys", folder / "proc")
        self.disk = folder / "dev/sdb"
        self.disk.parent.mkdir()
        self.disk.write_bytes(b"\xaa" * SIZE_BYTES)
        self.kernel = folder / "sys/devices/pci0/usb1/block/sdb"
        (self.kernel / "sdb1").mkdir(parents=True)
        (folder / "sys/class/block").mkdir(parents=True)
        self.link("sdb", self.kernel)
        self.link("sdb1", self.kernel / "sdb1")
        self.tell("size", str(SIZE_BYTES // 512))
        self.tell("ro", "0")
        self.tell("removable", "0")
        self.tell("dev", "8:16")
        self.tell("sdb1/partition", "1")
        self.tell("sdb1/dev", "8:17")
        self.tell("device/model", "Card  Reader")
        self.mount("8:1", "/")
        self.image = folder / "disk.img"
        self.image.write_bytes(os.urandom(IMAGE_BYTES))
        self.asked: list[str] = []

    def link(self, name: str, place: Path) -> None:
        (self.system.sys / "class/block" / name).symlink_to(place)

    def tell(self, name: str, text: str) -> None:
        path = self.kernel / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def mount(self, number: str, place: str) -> None:
        file = self.system.proc / "self/mountinfo"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"22 1 {number} / {place} rw - ext4 /dev/x rw\n")

    def flash(self, answer: str = "sdb") -> int:
        def ask(question: str) -> str:
            self.asked.append(question)
            return answer

        return flash(self.image, self.disk, self.system, ask, lambda *_: None)

    def untouched(self) -> bool:
        return self.disk.read_bytes() == b"\xaa" * SIZE_BYTES


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path)


def test_the_image_is_on_the_disk_and_what_follows_it_stays(
    laptop: Laptop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert laptop.flash() == 0
    written = laptop.disk.read_bytes()
    assert written[:IMAGE_BYTES] == laptop.image.read_bytes()
    assert written[IMAGE_BYTES:] == b"\xaa" * (SIZE_BYTES - IMAGE_BYTES)
    said = capsys.readouterr()
    assert "was read back" in said.out
    assert "sdb: Card Reader, 0.0 GB" in said.err


def mounted(laptop: Laptop) -> None:
    laptop.mount("8:17", "/home")


def whole_mounted(laptop: Laptop) -> None:
    laptop.mount("8:16", "/mnt")


def swap(laptop: Laptop) -> None:
    (laptop.system.proc / "swaps").write_text("Filename Type\n/dev/sdb1 partition 1 0 -2\n")


def held(laptop: Laptop) -> None:
    (laptop.kernel / "sdb1/holders/dm-0").mkdir(parents=True)


def built_in(laptop: Laptop) -> None:
    inside = laptop.system.sys / "devices/pci0/nvme/block"
    inside.mkdir(parents=True)
    laptop.kernel.rename(inside / "sdb")
    link = laptop.system.sys / "class/block/sdb"
    link.unlink()
    link.symlink_to(inside / "sdb")


def protected(laptop: Laptop) -> None:
    laptop.tell("ro", "1")


def no_card(laptop: Laptop) -> None:
    laptop.tell("size", "0")


def too_small(laptop: Laptop) -> None:
    laptop.tell("size", str(IMAGE_BYTES // 512 - 1))


def other_sums(laptop: Laptop) -> None:
    (laptop.image.parent / "SHA256SUMS").write_text(f"{'0' * 64}  disk.img\n")


REFUSALS = {
    mounted: "sdb1 is mounted at /home",
    whole_mounted: "sdb is mounted at /mnt",
    swap: "sdb1 is swap space",
    held: "sdb1 is part of another volume",
    built_in: "is built into this machine",
    protected: "is write-protected",
    no_card: "holds no card",
    too_small: "sdb is too small",
    other_sums: "Fetch it again",
}


@pytest.mark.parametrize("trouble", REFUSALS)
def test_a_disk_in_doubt_is_refused_before_anybody_is_asked(
    laptop: Laptop, trouble: Callable[[Laptop], None]
) -> None:
    """Catches each look at the kernel's lists that is left out: it may be the laptop's own disk."""
    trouble(laptop)
    with pytest.raises(CommandRefused, match=REFUSALS[trouble]):
        laptop.flash()
    assert laptop.asked == []
    assert laptop.untouched()


def test_a_part_of_a_disk_and_what_is_no_disk_are_refused(laptop: Laptop) -> None:
    with pytest.raises(CommandRefused, match="Name the whole disk"):
        target_disk(Path("/dev/sdb1"), laptop.system)
    with pytest.raises(CommandRefused, match="is no disk"):
        target_disk(Path("/dev/null"), laptop.system)


def test_whoever_types_another_name_writes_nothing(laptop: Laptop) -> None:
    with pytest.raises(CommandRefused, match=r"Nothing was written\."):
        laptop.flash(answer="yes")
    assert laptop.untouched()


def test_sums_beside_the_image_are_believed_when_they_agree(laptop: Laptop) -> None:
    digest = hashlib.sha256(laptop.image.read_bytes()).hexdigest()
    (laptop.image.parent / "SHA256SUMS").write_text(f"{digest}  disk.img\n")
    assert laptop.flash() == 0


def test_a_disk_that_is_pulled_out_does_not_boot_by_half(
    laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a partition table that is written first."""
    write_all = flashing._write_all
    chunks = iter(range(1))

    def fail_later(write: Callable[[memoryview], int], chunk: bytes) -> None:
        if next(chunks, None) is None:
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        write_all(write, chunk)

    monkeypatch.setattr(flashing, "_write_all", fail_later)
    with pytest.raises(CommandRefused, match=r"or was pulled out: No such device.* flash it again"):
        laptop.flash()
    assert laptop.disk.read_bytes()[:HEAD_BYTES] == bytes(HEAD_BYTES)


def test_a_disk_that_keeps_something_else_is_found_out(
    laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a verification that reads the image twice, or nothing."""
    write = flashing.write

    def write_badly(image: Path, device: Path, progress: flashing.Progress) -> None:
        write(image, device, progress)
        with device.open("r+b") as disk:
            disk.seek(IMAGE_BYTES - 1)
            last = disk.read(1)
            disk.seek(IMAGE_BYTES - 1)
            disk.write(bytes([last[0] ^ 1]))

    monkeypatch.setattr(flashing, "write", write_badly)
    with pytest.raises(CommandRefused, match="does not hold what was written"):
        laptop.flash()
