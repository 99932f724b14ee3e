"""The arm64 image in QEMU's Raspberry Pi 3: from its card to the page that asks for a table file.

Emulated, such an image is built for half an hour and more. So one that was built before is tried:
`make image ARCH=arm64`, then PI_IMAGE=build/image/arm64. It is no Pi: its firmware is played, and
nothing is on its pins and its bus.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from deploy.screen.findings import NO_TABLE_FILE
from tests.kit.booted_pi import answers

pytestmark = pytest.mark.deploy

OF_TREE = "/sys/firmware/devicetree/base"
PYTHON = "/opt/underfelt/current/venv/bin/python -c"
PAGE = r"import urllib.request as u;print(u.urlopen(\"http://127.0.0.1:8070/panel/state\").read().decode())"
# Drivers are still being loaded when the first of them is asked.
QUESTIONS = {
    "board": f"tr -d '\\\\0' <{OF_TREE}/model",
    "root": "findmnt -no FSTYPE,OPTIONS /",
    "data": "findmnt -no SOURCE,FSTYPE /data",
    "bus": "udevadm settle; od -An -tx1 /sys/class/i2c-dev/i2c-1/device/of_node/clock-frequency",
    "watchdog": "cat /sys/class/watchdog/watchdog0/identity",
    "screens": "modprobe vc4 && echo loaded",
    "pins": f"cd /run && {PYTHON} 'import lgpio;print(lgpio.gpiochip_open(0))'",
    "failed": "systemctl --failed --no-legend",
    "page": f"{PYTHON} '{PAGE}'",
}
BUS_400_KHZ = "00 06 1a 80"


def test_a_flashed_card_boots_to_the_page_that_asks_for_a_table_file(tmp_path: Path) -> None:
    """Catches a card or a watchdog without its driver, screens whose driver lacks a part, a bus
    that our overlay does not reach, a wheel for another processor, and a service that fails without
    a PC's parts."""
    if "PI_IMAGE" not in os.environ:
        pytest.skip("PI_IMAGE names no arm64 image")
    told = answers(Path(os.environ["PI_IMAGE"]), tmp_path, QUESTIONS)
    assert told["board"].startswith("Raspberry Pi 3 Model B")
    assert told["root"].startswith("squashfs ro")
    assert told["data"].split() == ["/dev/mmcblk0p7", "ext4"]
    assert told["bus"] == BUS_400_KHZ
    assert "BCM2835" in told["watchdog"]
    assert told["screens"] == "loaded"
    assert int(told["pins"]) >= 0
    assert told["failed"] == ""
    assert json.loads(told["page"])["said"] == [NO_TABLE_FILE]
