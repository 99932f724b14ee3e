"""From a blank disk to an open table in QEMU, and what a unit says when it cannot open one.

The hardware is simulated and comes with its manager on a second disk; the image is the one that
would be shipped. The firmware is played by `deploy/image/boot`.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.screen.findings import FULL, NO_TABLE_FILE, NOT_MOUNTED
from tests.kit.bench_disk import books_disk, table_text
from tests.kit.booted_unit import Guest, UnitDisk, partition_at
from tests.kit.first_start import FirstStart
from tests.kit.updated_unit import Written

pytestmark = pytest.mark.deploy

PAGE = "http://127.0.0.1:8070/panel"
STARTED = "Startup finished in"
DATA_PARTITION = 7
FREE_BYTES = "df --block-size=1 --output=avail /data | tail -n 1"


def screen(guest: Guest) -> list[str]:
    """What stands on the unit's own screen while it has no table to show."""
    told = guest.ask("page", url=f"{PAGE}/state")
    assert told["code"] == 200, told
    said: list[str] = json.loads(told["said"])["said"]
    return said


def test_a_blank_disk_with_two_files_becomes_an_open_table(first_start: FirstStart) -> None:
    """Catches a step that needs a keyboard, a login, or a second start."""
    assert f"{first_start.digits[:3]} {first_start.digits[3:]}" in first_start.shown
    assert first_start.view["link"] == "up"
    assert first_start.view["faults"] == []
    assert not [line for line in first_start.lines if "Failed to start" in line]
    assert first_start.disk.provided() == "", "what was provided is used up"


def test_an_enrolled_unit_opens_its_table_by_itself(written_once: Written) -> None:
    """With nothing to complain of, and with a watchdog: else nobody would notice a dead kernel."""
    seen = written_once.before
    assert seen.view["faults"] == []
    assert seen.failed_services == ""
    assert seen.has_watchdog
    assert seen.root_mount == ["squashfs", "ro"]
    assert seen.program == {"enrolled": True, "busy": "", "unproven": ""}


def test_a_blank_disk_says_on_its_screen_what_it_needs(
    image: Path, bench: Path, tmp_path: Path
) -> None:
    """And each of two files with a mistake says which, on a unit without a keyboard."""
    disk = replace(UnitDisk.flashed(image, tmp_path), bench=bench, books=books_disk(tmp_path)[0])
    with disk.booted() as guest:
        guest.wait_for(STARTED)
        assert screen(guest) == [NO_TABLE_FILE]
    disk.provide("table.toml", table_text().replace("\n[table]\n", "\n[tabel]\n"))
    disk.provide("enrol", "127.0.0.1:7412 CODE\n")
    with disk.booted() as guest:
        guest.wait_for(STARTED, "is refused, for the reason above")
        guest.wait_for("must hold one line")
        typo, no_line = screen(guest)
        assert "tabel" in typo
        assert "must hold one line" in no_line


def damage(disk: UnitDisk) -> None:
    """As a card that has lost its first blocks, and the copies of them."""
    start, length = partition_at(disk.disk, DATA_PARTITION)
    with disk.disk.open("r+b") as file:
        file.seek(start)
        file.write(bytes(64 << 10))
        for at in range(128 << 20, length, 128 << 20):
            file.seek(start + at)
            file.write(bytes(64 << 10))


def data_bytes(disk: UnitDisk) -> bytes:
    start, length = partition_at(disk.disk, DATA_PARTITION)
    with disk.disk.open("rb") as file:
        file.seek(start)
        return file.read(length)


def test_data_that_cannot_be_read_is_told_and_left_alone(opened: UnitDisk) -> None:
    """Catches an emergency prompt where there is no keyboard, and a unit that formats itself."""
    damage(opened)
    before = data_bytes(opened)
    with opened.booted() as guest:
        guest.wait_for(STARTED)
        assert screen(guest) == [NOT_MOUNTED]
        assert guest.ask("page", url="http://127.0.0.1:8080/")["code"] == 0, "no second history"
    assert data_bytes(opened) == before


def test_a_full_disk_and_another_propertys_manager_are_told(
    opened: UnitDisk, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with replace(opened, books=books_disk(other)[0]).booted() as guest:
        view = guest.view(link="down", seconds=600)
        guest.wait_for("is not the one that this unit was enrolled with")
        view = guest.view(link="down")
        assert any("enrolled with" in each["text"] for each in view["faults"]), view["faults"]
        guest.run(f"fallocate -l $({FREE_BYTES}) /data/filling")
        guest.run("systemctl stop underfelt")
        assert screen(guest) == [FULL]
        guest.run("systemctl --no-block start underfelt")
        guest.view(seconds=300)


def test_a_clock_in_1970_is_set_to_the_programs_date_and_the_table_opens(opened: UnitDisk) -> None:
    """A Pi has no clock of its own, and no certificate of a floor begins or ends by date."""
    with opened.booted(more=("-rtc", "base=1970-01-02T00:00:00")) as guest:
        guest.wait_for(STARTED)
        year = int(guest.run("date +%Y"))
        assert year >= 2023, "the image knows at least when it was made"
        guest.view(state="open", seconds=600)


def test_a_data_partition_with_small_damage_is_mended_at_boot(opened: UnitDisk) -> None:
    """Catches a mount without a check: a power cut leaves such things on any disk."""
    at = f"{opened.disk}?offset={partition_at(opened.disk, DATA_PARTITION)[0]}"
    # Its count of free blocks is wrong, and it says that it was not left in order.
    words = ["debugfs", "-w", "-R", "set_super_value free_blocks_count 7", at]
    subprocess.run(words, check=True, capture_output=True)
    subprocess.run(
        ["debugfs", "-w", "-R", "set_super_value state 0", at], check=True, capture_output=True
    )
    with opened.booted() as guest:
        guest.view(state="open", seconds=600)
        assert guest.said("systemd-fsck")
