"""What a technician lays on the boot partition: taken when it is right, refused when it is not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shutil import copyfile

import pytest

from tests.kit.places import ROOT, TABLES

SCRIPTS = ROOT / "deploy/image/files/usr/libexec/underfelt"
SHIPPED = TABLES / "four-card-touch.toml"
PARTS = ("controller", "hal", "kit", "protocol", "deploy")


class BlankUnit:
    """A boot partition, a data partition and a release, as folders."""

    def __init__(self, folder: Path) -> None:
        self.boot, self.settings = folder / "boot", folder / "data/settings"
        self.release = folder / "release"
        (self.boot / "provision").mkdir(parents=True)
        (self.release / "system").mkdir(parents=True)
        for part in PARTS:
            (self.release / part).symlink_to(ROOT / part)
        (self.release / "venv").symlink_to(ROOT / ".venv")
        copyfile(ROOT / "deploy/unit/check-table", self.release / "system/check-table")
        self.given = self.boot / "provision/table.toml"
        self.kept = self.settings / "table.toml"
        self.notes = folder / "notes"

    def provision(self, text: str | None = None) -> tuple[int, str]:
        if text is not None:
            self.given.write_text(text)
        places = (self.boot, self.settings, self.release, self.notes)
        done = subprocess.run(
            [str(SCRIPTS / "provision"), *map(str, places)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr

    def noted(self) -> list[str]:
        """What the page on the unit's own screen says of it."""
        return [path.read_text() for path in self.notes.glob("[!.]*")]


@pytest.fixture
def unit(tmp_path: Path) -> BlankUnit:
    return BlankUnit(tmp_path)


def test_a_table_file_is_taken_without_the_houses_secrets(unit: BlankUnit) -> None:
    """Catches a copy of the whole file: it holds card numbers, and any laptop reads that disk."""
    code, said = unit.provision(SHIPPED.read_text())
    assert code == 0, said
    assert "is in use" in said
    kept = unit.kept.read_text()
    assert "[board" in kept
    assert "cards" not in kept
    assert not unit.given.exists()


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("\n[table]\n", "\n[tabel]\n", "tabel"),
        ("\n[table]\n", "\n[table\n", "is not valid TOML"),
        ("seats = 7", "seats = 0", "seats"),
    ],
)
def test_a_typo_is_named_and_the_table_file_before_stays(
    unit: BlankUnit, right: str, wrong: str, named: str
) -> None:
    assert unit.provision(SHIPPED.read_text())[0] == 0
    before = unit.kept.read_bytes()
    text = SHIPPED.read_text()
    assert right in text
    code, said = unit.provision(text.replace(right, wrong, 1))
    assert code == 1
    assert named in said
    assert "nothing was changed" in said
    assert unit.kept.read_bytes() == before
    assert unit.given.exists(), "the technician mends it there"
    assert [path.name for path in unit.settings.iterdir()] == ["table.toml"]
    (note,) = unit.noted()
    assert "is refused. Nothing was changed." in note
    assert named in note
    assert unit.provision(text)[0] == 0
    assert unit.noted() == [], "what was mended is not told any more"


def test_a_blank_unit_says_what_it_needs_and_a_provided_one_nothing(unit: BlankUnit) -> None:
    code, said = unit.provision()
    assert (code, "has no table file yet" in said) == (0, True)
    unit.provision(SHIPPED.read_text())
    assert unit.provision() == (0, "")


def enrolled(folder: Path, line: str, command: str = "exit 9") -> tuple[int, str, list[str]]:
    """How the script ends, what it says, and what stands on the screen then."""
    (folder / "provision").mkdir(exist_ok=True)
    (folder / "provision/enrol").write_text(f"{line}\n")
    (folder / "underfelt").write_text(f"#!/bin/sh\n{command}\n")
    (folder / "underfelt").chmod(0o755)
    done = subprocess.run(
        [str(SCRIPTS / "enrol"), str(folder), str(folder / "notes")],
        env=os.environ | {"COMMAND": str(folder / "underfelt")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    notes = [path.read_text() for path in (folder / "notes").glob("[!.]*")]
    return done.returncode, done.stdout, notes


@pytest.mark.parametrize("line", ["", "HOST:7412", "HOST:7412 ab12 CODE more"])
def test_an_enrolment_line_with_a_typo_is_told(tmp_path: Path, line: str) -> None:
    code, said, notes = enrolled(tmp_path, line)
    assert code == 0, "asking again would not help"
    assert "must hold one line: HOST:7412 CA-FINGERPRINT CODE" in said
    assert notes == [said]


def test_a_refused_enrolment_stands_on_the_screen_until_it_succeeds(tmp_path: Path) -> None:
    refused = "echo 'controller: the manager refuses: that code is used up.' >&2; exit 2"
    code, _, (note,) = enrolled(tmp_path, "HOST:7412 ab12 CODE", refused)
    assert code == 1, "systemd asks again"
    assert "the manager refuses: that code is used up." in note
    assert (tmp_path / "provision/enrol").exists()
    assert enrolled(tmp_path, "HOST:7412 ab12 CODE", "exit 0") == (0, "", [])
    assert not (tmp_path / "provision/enrol").exists(), "the code is used up"


@pytest.mark.parametrize("works", [True, False])
def test_a_repair_is_done_once_and_only_when_it_was_asked_for(tmp_path: Path, works: bool) -> None:
    """On a file in place of a partition; its first block is gone, or it never was one."""
    disk, boot, notes = tmp_path / "data.img", tmp_path / "boot", tmp_path / "notes"
    (boot / "provision").mkdir(parents=True)
    asked = boot / "provision/repair-data"
    asked.touch()
    disk.write_bytes(bytes(16 << 20))
    if works:
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-b", "1024", str(disk)], check=True)
        with disk.open("r+b") as file:
            file.write(bytes(4096))
    words = [str(SCRIPTS / "repair-data"), str(boot), str(disk), str(notes)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert ("was repaired" in done.stdout) == works, done.stdout
    assert notes.exists() != works
    assert not asked.exists()
