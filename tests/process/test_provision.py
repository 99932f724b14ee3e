"""What a technician lays on the boot partition: taken when it is right, refused when it is not."""

from __future__ import annotations

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

    def provision(self, text: str | None = None) -> tuple[int, str]:
        if text is not None:
            self.given.write_text(text)
        places = (self.boot, self.settings, self.release)
        done = subprocess.run(
            [str(SCRIPTS / "provision"), *map(str, places)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr


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


def test_a_blank_unit_says_what_it_needs_and_a_provided_one_nothing(unit: BlankUnit) -> None:
    code, said = unit.provision()
    assert (code, "has no table file yet" in said) == (0, True)
    unit.provision(SHIPPED.read_text())
    assert unit.provision() == (0, "")


@pytest.mark.parametrize("line", ["", "HOST:7412", "HOST:7412 ab12 CODE more"])
def test_an_enrolment_line_with_a_typo_is_told(tmp_path: Path, line: str) -> None:
    (tmp_path / "provision").mkdir()
    (tmp_path / "provision/enrol").write_text(f"{line}\n")
    done = subprocess.run(
        [str(SCRIPTS / "enrol"), str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert "must hold one line: HOST:7412 CA-FINGERPRINT CODE" in done.stdout
