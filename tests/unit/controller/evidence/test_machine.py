"""The computer's state from the kernel's files; what is not there is None and never a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.evidence.machine import THERMAL, THROTTLED, machine, throttled_flags


def put(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_machine_that_says_nothing_is_told_as_nothing(tmp_path: Path) -> None:
    told = machine(None, tmp_path)
    unknown = ("temperature_c", "supply_now", "supply_since_start", "disk_wear_percent")
    assert [told[name] for name in unknown] == [None] * 4
    assert told["disk_free_bytes"] is None


def test_a_pi_tells_temperature_supply_and_wear(tmp_path: Path) -> None:
    put(tmp_path, THERMAL, "61835\n")
    put(tmp_path, THROTTLED, "50005\n")
    put(tmp_path, "sys/block/mmcblk0/device/life_time", "0x02 0x05\n")
    told = machine(tmp_path, tmp_path)
    assert told["temperature_c"] == 61.8
    assert told["supply_now"] == ["under-voltage", "throttled"]
    assert told["supply_since_start"] == ["under-voltage", "throttled"]
    assert told["disk_wear_percent"] == 50
    assert 0 < told["disk_free_bytes"] <= told["disk_bytes"]


@pytest.mark.parametrize("text", ["", "zebra"])
def test_what_cannot_be_understood_is_unknown(tmp_path: Path, text: str) -> None:
    put(tmp_path, THERMAL, text)
    put(tmp_path, "sys/block/mmcblk0/device/life_time", text)
    put(tmp_path, THROTTLED, text or "x")
    assert machine(None, tmp_path)["temperature_c"] is None
    assert machine(None, tmp_path)["disk_wear_percent"] is None
    assert throttled_flags(tmp_path) is None


def test_a_file_that_is_no_mailbox_is_no_answer(tmp_path: Path) -> None:
    put(tmp_path, "dev/vcio", "")
    assert throttled_flags(tmp_path) is None
