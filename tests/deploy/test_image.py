"""A unit's disk image in QEMU: from a blank unit with a table file to the page that asks to enrol.

`make test-deploy` builds the image and runs this. The firmware is played by `deploy/image/boot`.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.places import ROOT, TABLES
from tests.kit.unit_image import built

pytestmark = pytest.mark.deploy

BOOT = ROOT / "deploy/image/boot"
TABLE = TABLES / "four-card-touch.toml"
LINES_MAX = 5_000
WAITS = "the page that says so is at http://127.0.0.1:8080/"
NO_TABLE = "this unit has no table file yet"
STARTED = "Startup finished in"


def first_partition_at(disk: Path) -> int:
    dump = subprocess.run(["sfdisk", "--dump", str(disk)], capture_output=True, text=True)
    found = re.search(r"1 : start= *(\d+),", dump.stdout)
    assert found
    return int(found[1]) * 512


class BlankDisk:
    """A copy of the image, as it is on a disk that was just flashed."""

    def __init__(self, image: Path, folder: Path) -> None:
        self.disk = folder / "disk.img"
        copy = ["cp", "--sparse=always", str(image / "disk.img"), str(self.disk)]
        subprocess.run(copy, check=True)
        self._first = f"{self.disk}@@{first_partition_at(self.disk)}"

    def provide(self, name: str, file: Path) -> None:
        """What a technician does on a laptop, where the first partition shows up by itself."""
        subprocess.run(["mmd", "-D", "s", "-i", self._first, "::provision"], check=False)
        subprocess.run(
            ["mcopy", "-o", "-i", self._first, str(file), f"::provision/{name}"], check=True
        )

    def provided(self) -> str:
        listed = ["mdir", "-b", "-i", self._first, "::provision"]
        return subprocess.run(listed, capture_output=True, text=True).stdout

    def boot(self, until: tuple[str, ...]) -> list[str]:
        """The console's lines until all of these were said; then the power is cut."""
        words = [str(BOOT), str(self.disk), "/dev/stdout"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, bufsize=0) as running:
            try:
                return list(self._lines(running, set(until)))
            finally:
                running.kill()

    def _lines(self, running: subprocess.Popen[bytes], missing: set[str]) -> Iterator[str]:
        assert running.stdout is not None
        for _ in range(LINES_MAX):
            line = running.stdout.readline().decode(errors="replace").strip()
            assert line or running.poll() is None, f"it ended without saying {missing}"
            missing -= {each for each in missing if each in line}
            yield line
            if not missing:
                return
        pytest.fail(f"it never said {missing}")


@pytest.fixture
def disk(image: Path, tmp_path: Path) -> BlankDisk:
    return BlankDisk(image, tmp_path)


def test_two_builds_are_the_same_bytes(image: Path, keys: Path, tmp_path: Path) -> None:
    """Catches a date, an order or a number of the building machine in any partition."""
    again = built(tmp_path / "again", keys)
    assert (again / "SHA256SUMS").read_text() == (image / "SHA256SUMS").read_text()


def said(lines: list[str], text: str) -> bool:
    return any(text in line for line in lines)


def test_a_flashed_disk_with_a_table_file_comes_up_and_asks_to_be_enrolled(
    disk: BlankDisk,
) -> None:
    """Also after a power cut, and without the file that the first boot took."""
    disk.provide("table.toml", TABLE)
    first = disk.boot((WAITS, STARTED))
    assert said(first, "the table file from the boot partition is in use")
    assert not said(first, "Failed to start")
    assert "table.toml" not in disk.provided()
    again = disk.boot((WAITS,))
    assert not said(again, "is in use")
    assert not said(again, "Failed to start")


def test_a_blank_disk_says_what_it_needs(disk: BlankDisk) -> None:
    lines = disk.boot((NO_TABLE, STARTED))
    assert not said(lines, WAITS)


def test_the_bill_of_materials_names_what_is_installed(image: Path) -> None:
    bill = json.loads((image / "sbom.json").read_text())
    purls = [each["purl"] for each in bill["components"]]
    assert len(purls) == len(set(purls)) > 100
    assert [purl for purl in purls if purl.startswith("pkg:pypi/lgpio@")]
    assert [purl for purl in purls if purl.startswith("pkg:deb/debian/linux-image-")]
    locked = re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.M)
    brought = {name.replace("_", "-") for name in purls}
    for name, version in locked:
        if name != "setuptools":
            assert f"pkg:pypi/{name}@{version}" in brought, name


def test_nobody_can_sign_in_and_nothing_of_the_house_is_on_it(image: Path) -> None:
    """Catches a default password, an SSH server, and a table file or key in the image."""
    listed = subprocess.run(
        ["unsquashfs", "-d", "", "-ls", str(image / "root.squashfs")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert "/usr/sbin/sshd" not in listed
    assert not [path for path in listed if path.startswith("/opt/underfelt/current/manager/")]
    shadow = subprocess.run(
        ["unsquashfs", "-cat", str(image / "root.squashfs"), "etc/shadow"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shadow
    assert [line for line in shadow.splitlines() if line.split(":")[1][:1] not in "!*"] == []
