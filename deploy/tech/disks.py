"""Which disk may be written over: one that can be pulled out, that nobody uses, and that is whole.

Everything is read from the kernel's own lists below /sys and /proc. In doubt a disk is refused: it
may be the laptop's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kit.command_line import CommandRefused

SECTOR_BYTES: Final = 512
NUMBER: Final = re.compile(r"\d+:\d+")


@dataclass(frozen=True)
class System:
    """Where the kernel tells of disks; the tests have folders of their own."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")

    def block(self, name: str) -> Path:
        return self.sys / "class/block" / name


@dataclass(frozen=True)
class TargetDisk:
    name: str
    model: str
    size_bytes: int

    @property
    def sentence(self) -> str:
        return f"{self.name}: {self.model or 'no name'}, {self.size_bytes / 1e9:.1f} GB"


def target_disk(path: Path, system: System) -> TargetDisk:
    """The disk behind `/dev/sdX`, or a refusal that says why it is not written over."""
    name = path.resolve().name
    folder = system.block(name)
    if not folder.exists():
        raise CommandRefused(f"{path} is no disk. `lsblk` lists them.")
    if (folder / "partition").exists():
        raise CommandRefused(
            f"{path} is a part of a disk. Name the whole disk: `lsblk` lists them."
        )
    device = folder.resolve()
    if (device / "loop").exists() or name.startswith(("dm-", "md", "zram", "ram")):
        raise CommandRefused(f"{path} is not a disk of its own.")
    if _text(device / "ro") == "1":
        raise CommandRefused(f"{path} is write-protected. Look at the switch on the card.")
    size_bytes = int(_text(device / "size") or "0") * SECTOR_BYTES
    if not size_bytes:
        raise CommandRefused(f"{path} holds no card.")
    use = _use(device, system)
    if use:
        raise CommandRefused(
            f"{path} is in use ({use}), so it may be this machine's own. Nothing was written."
        )
    if not _can_be_pulled(device, name):
        raise CommandRefused(f"{path} is built into this machine. Nothing was written.")
    model = " ".join(_text(device / "device" / each) for each in ("vendor", "model", "name"))
    return TargetDisk(name, " ".join(model.split()), size_bytes)


def _can_be_pulled(device: Path, name: str) -> bool:
    return _text(device / "removable") == "1" or "/usb" in str(device) or name.startswith("mmcblk")


def _use(device: Path, system: System) -> str:
    """Who uses the disk or a part of it, "" for nobody."""
    parts = [device, *(path.parent for path in sorted(device.glob("*/partition")))]
    mounted, swaps = _mounts(system), _swaps(system)
    for part in parts:
        if any((part / "holders").glob("*")):
            return f"{part.name} is part of another volume"
        if part.name in swaps:
            return f"{part.name} is swap space"
        place = mounted.get(_text(part / "dev"))
        if place:
            return f"{part.name} is mounted at {place}"
    return ""


def _mounts(system: System) -> dict[str, str]:
    lines = (system.proc / "self/mountinfo").read_text("utf-8").splitlines()
    rows = [line.split() for line in lines]
    return {row[2]: row[4] for row in rows if len(row) > 4 and NUMBER.fullmatch(row[2])}


def _swaps(system: System) -> set[str]:
    file = system.proc / "swaps"
    lines = file.read_text("utf-8").splitlines()[1:] if file.exists() else []
    return {Path(line.split()[0]).name for line in lines if line.split()}


def _text(path: Path) -> str:
    return path.read_text("utf-8").strip() if path.is_file() else ""
