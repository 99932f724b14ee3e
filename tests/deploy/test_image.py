"""What is on a unit's disk image, and that two builds are the same; `test_boot.py` boots it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.kit.kernel_modules import lacking
from tests.kit.places import ROOT
from tests.kit.unit_image import built

pytestmark = pytest.mark.deploy

# Of a unit's screens, buses, card, ports, network and watchdog.
DRIVERS = "drivers/(gpu|i2c|mmc|gpio|tty|usb/(host|serial|class)|net/(usb|phy)|watchdog|spi|block)/"


def test_two_builds_are_the_same_bytes(image: Path, keys: Path, tmp_path: Path) -> None:
    """Catches a date, an order or a number of the building machine in any partition."""
    again = built(tmp_path / "again", keys)
    assert (again / "SHA256SUMS").read_text() == (image / "SHA256SUMS").read_text()


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


def test_no_driver_of_a_unit_lacks_another(root: Path) -> None:
    """Catches a folder of drivers that was left out and had what a Pi's screens need."""
    found = lacking(root / "usr/lib/modules")
    assert {path: wanted for path, wanted in found.items() if re.match(DRIVERS, path)} == {}


def test_what_is_to_start_by_itself_is_asked_for_by_a_link(root: Path) -> None:
    """Catches a plain file in the place of a link, which systemd passes over without a word."""
    units = root / "etc/systemd/system"
    plain = [each.name for each in units.glob("*.wants/*") if not each.is_symlink()]
    assert plain == []
    assert (units / "multi-user.target.wants/underfelt-rollout.path").is_symlink()
