"""A second disk for a booted image: simulated hardware, a manager, and the way in for a test.

Nothing of it is on a unit's own disk, and nothing of the image is changed for it: QEMU hands the
guest's systemd a few more unit files (`guest/units`) beside the disk.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.kit.clean_debian import built_package
from tests.kit.places import ROOT, TABLES, TESTS

GUEST = TESTS / "kit/guest"
MORE_ROOMS = ("hal", "controller", "sim")  # the manager's package has the others
BOOKS_MB = 64
SECONDS_MAX = 60
# The shipped table on the eight lines that a bridge has, beside a manager on the same machine.
CHANGES = {
    "interrupt_gpio = 17": "interrupt_gpio = 7",
    # Only root may take a bridge's wires from its driver, and the table is not root. The switch
    # goes with them: ICs whose wires are high keep their supply, and the self-test says so.
    "recovery = { scl_gpio = 3, sda_gpio = 2 }\nsupply_gpio = 4\n": "",
    "gpio = 24": "gpio = 6",
    'host = "game-manager.local"': 'host = "127.0.0.1"',
}


def table_text() -> str:
    text = (TABLES / "four-card-touch.toml").read_text("utf-8")
    for shipped, here in CHANGES.items():
        assert text.count(shipped) == 1, shipped
        text = text.replace(shipped, here)
    return text


def bench_disk(root: Path, out: Path, epoch_s: str) -> Path:
    """`root` is the image's own, unpacked: its Python compiles what is on the disk."""
    package = built_package("manager", ROOT, int(epoch_s), out.parent / "deb")
    staged = root / "run/bench"
    shutil.rmtree(staged, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-x", str(package), str(root / "run/deb")], check=True)
    (root / "run/deb/opt/underfelt-manager/current").rename(staged)
    shutil.rmtree(root / "run/deb")
    unused = shutil.ignore_patterns("__pycache__")
    for room in MORE_ROOMS:
        shutil.copytree(ROOT / room, staged / room, ignore=unused)
    shutil.copytree(TABLES, staged / "deploy/tables")
    shutil.copytree(GUEST, staged / "guest", ignore=unused)
    (staged / "table.toml").write_text(table_text(), "utf-8")
    compiled = ["-m", "compileall", "-q", "-x", "/tests/", "--invalidation-mode", "unchecked-hash"]
    words = ["chroot", str(root), "/run/bench/venv/bin/python", *compiled, "/run/bench"]
    subprocess.run(words, check=True)
    # Not packed: an emulated processor would unpack it again at each boot.
    packed = ["-noappend", "-no-progress", "-quiet", "-noI", "-noD", "-noF", "-noX"]
    subprocess.run(["mksquashfs", str(staged), str(out), *packed], check=True, capture_output=True)
    shutil.rmtree(staged)
    return out


@dataclass(frozen=True)
class Invitation:
    """What an operator reads out for a technician."""

    code: str
    fingerprint: str

    @property
    def line(self) -> str:
        return f"127.0.0.1:7412 {self.fingerprint} {self.code}\n"


def books_disk(
    folder: Path, meanwhile: Callable[[Invitation, int, Path], None] | None = None
) -> tuple[Path, Invitation]:
    """A house's books on a disk, and one code to enrol with.

    `meanwhile` is called while the manager serves here, with the port where units enrol.
    """
    data, table, out = folder / "books/data", folder / "books.toml", folder / "books.img"
    data.mkdir(parents=True)
    table.write_text(table_text(), "utf-8")
    with serving(data, table) as enrol_port:
        told = asked("enrol-code", "--data", str(data), "--table", "four-card-touch")
        invitation = Invitation(_field(told, "code"), _field(told, "ca-fingerprint"))
        if meanwhile is not None:
            meanwhile(invitation, enrol_port, data)
    pack_books(data.parent, out)
    return out, invitation


def pack_books(folder: Path, out: Path) -> None:
    """The folder becomes the disk."""
    words = ["mke2fs", "-q", "-F", "-t", "ext4", "-d", str(folder), str(out), f"{BOOKS_MB}M"]
    subprocess.run(words, check=True)
    shutil.rmtree(folder)


def unpack_books(disk: Path, folder: Path) -> None:
    """What `pack_books` has packed."""
    folder.mkdir()
    words = ["debugfs", "-R", f"rdump /data {folder}", str(disk)]
    subprocess.run(words, check=True, capture_output=True)
    assert (folder / "data").is_dir(), disk


def _field(told: str, name: str) -> str:
    found = re.search(rf"^{name} +(\S+)$", told, re.MULTILINE)
    assert found, told
    return found[1]


def asked(*words: str, typed: str = "") -> str:
    """What an operator's command says here."""
    done = subprocess.run(
        [sys.executable, "-m", "manager", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        input=typed,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(data: Path, table: Path) -> Iterator[int]:
    """A manager on this machine, until the block ends; the port where units enrol."""
    ports = ["--port", "0", "--web-port", "0"]
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "manager",
            "serve",
            "--data",
            str(data),
            *ports,
            "--table",
            str(table),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield int(json.loads(process.stdout.readline())["enrolment"].rpartition(":")[2])
            process.terminate()
            assert process.wait(SECONDS_MAX) == 0
        finally:
            process.kill()


def unit_files() -> list[str]:
    """QEMU's words for `guest/units`: the guest's systemd takes them as if they were its own."""
    words = []
    for path in sorted((GUEST / "units").iterdir()):
        name = f"systemd.extra-unit.{path.name}"
        if path.suffix == ".conf":
            name = f"systemd.unit-dropin.{path.stem}"
        content = base64.b64encode(path.read_bytes()).decode()
        words += ["-smbios", f"type=11,value=io.systemd.credential.binary:{name}={content}"]
    return words
