"""What a technician lays on a flashed disk: only the unit's part, and only what can be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.tech.commands.provision import main
from kit.command_line import CommandRefused
from tests.kit.places import TABLES

TABLE = str(TABLES / "four-card-touch.toml")
FINGERPRINT = "ab" * 32
ENROL = ("--manager", "games.example:7412", "--ca-fingerprint", FINGERPRINT, "--code", "K7-Q2")


@pytest.fixture
def boot(tmp_path: Path) -> Path:
    (tmp_path / "autoboot.txt").touch()
    return tmp_path


def test_the_houses_cards_do_not_travel_on_a_disk(boot: Path) -> None:
    """Catches a copy of the whole table file."""
    assert main([str(boot), "--table", TABLE]) == 0
    text = (boot / "provision/table.toml").read_text()
    assert "[board" in text
    assert "[[cards]]" in Path(TABLE).read_text()
    assert "cards" not in text


def test_the_enrolment_is_the_line_that_the_unit_reads(boot: Path) -> None:
    spaced = ":".join(FINGERPRINT[at : at + 2] for at in range(0, 64, 2)).upper()
    assert main([str(boot), *ENROL[:3], spaced, *ENROL[4:]]) == 0
    line = (boot / "provision/enrol").read_text()
    assert line == f"games.example:7412 {FINGERPRINT} K7-Q2\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Say --table"),
        (("--table", "/nowhere.toml"), "cannot be read"),
        (("--manager", "games", *ENROL[2:]), "is no address"),
        ((*ENROL[:3], "12", *ENROL[4:]), "64 hexadecimal digits"),
        ((*ENROL[:4], "--code", "two words"), "is one word"),
        (ENROL[:4], "is one word"),
    ],
)
def test_what_cannot_be_right_is_refused_on_the_laptop(
    boot: Path, words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CommandRefused, match=sentence):
        main([str(boot), *words])
    assert not (boot / "provision").exists()


def test_another_folder_is_not_a_units_disk(tmp_path: Path) -> None:
    """Catches a table file that is laid down on somebody's camera."""
    with pytest.raises(CommandRefused, match=r"it has no autoboot\.txt"):
        main([str(tmp_path), "--table", TABLE])
    assert list(tmp_path.iterdir()) == []
