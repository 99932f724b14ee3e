"""Our device-tree overlay on a tree like Debian's own for a Pi 4: speed, state and number."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.kit.places import ROOT

pytestmark = pytest.mark.deploy

OVERLAY = ROOT / "deploy/image/underfelt-bus.dts"
BUS = "/soc/i2c@7e804000"
# As in Debian 13's bcm2711-rpi-4-b.dtb: 100 kHz, and no number for this bus.
DEBIAN = """
/dts-v1/;
/ {
    compatible = "raspberrypi,4-model-b", "brcm,bcm2711";
    aliases { serial0 = "/soc/serial@7e201000"; };
    soc {
        i2c@7e804000 { status = "disabled"; clock-frequency = <100000>; };
    };
};
"""


def run(*words: str | Path, text: str = "") -> str:
    done = subprocess.run([*map(str, words)], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_bus_is_on_at_400_khz_and_is_number_1(tmp_path: Path) -> None:
    base, overlay, merged = (tmp_path / name for name in ("base", "overlay", "merged"))
    run("dtc", "-q", "-I", "dts", "-O", "dtb", "-o", base, "-", text=DEBIAN)
    run("dtc", "-q", "-I", "dts", "-O", "dtb", "-o", overlay, OVERLAY)
    run("fdtoverlay", "-i", base, "-o", merged, overlay)
    assert run("fdtget", "-t", "i", merged, BUS, "clock-frequency") == "400000"
    assert run("fdtget", merged, BUS, "status") == "okay"
    assert run("fdtget", merged, "/aliases", "i2c1") == BUS
