"""What a unit's screen says while there is no table: each cause in its own sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deploy.screen import findings as page
from deploy.screen.findings import Place, findings, ports

BUILT_S = 1_779_000_000  # 2026-05-17
VERSION = "0.1.0+20260517.064000"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A unit in order that has a table file."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "table.toml").write_text("[web]\nport = 9080\ndisplay_port = 9081\n")
    (tmp_path / "program.json").write_text(json.dumps({"version": VERSION}))
    (tmp_path / "mounts").write_text(f"/dev/vda7 {tmp_path} ext4 rw,noatime 0 0\n")
    return Place(
        data=tmp_path,
        mounts=tmp_path / "mounts",
        notes=tmp_path / "notes",
        table_file=tmp_path / "table.toml",
        program=tmp_path / "program.json",
        wall_s=lambda: BUILT_S,
    )


def test_a_unit_in_order_only_takes_a_moment(place: Place) -> None:
    assert findings(place) == [page.STARTING]
    assert ports(place) == (9080, 9081)


def test_a_blank_unit_asks_for_its_table_file(place: Place) -> None:
    place.table_file.unlink()
    assert findings(place) == [page.NO_TABLE_FILE]
    assert ports(place) == (8080, 8081)


def test_data_that_is_not_there_is_told_and_nothing_else_is_guessed(place: Place) -> None:
    """Its table file lies there too: nobody may be told to provide a new one."""
    place.mounts.write_text("/dev/vda5 / squashfs ro 0 0\n")
    place.table_file.unlink()
    assert findings(place) == [page.NOT_MOUNTED]


def test_data_that_cannot_be_written_is_told(place: Place) -> None:
    row = f"/dev/vda7 {place.data} ext4 rw 0 0\n/dev/vda7 {place.data} ext4 ro,noatime 0 0\n"
    place.mounts.write_text(row)
    assert findings(place) == [page.READ_ONLY]


def test_a_full_disk_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "FREE_BYTES_MIN", 1 << 60)
    assert findings(place) == [page.FULL]


@pytest.mark.parametrize(
    ("wall_s", "is_told"), [(0, True), (BUILT_S - 90_000, True), (BUILT_S, False)]
)
def test_a_clock_before_the_program_is_told(place: Place, wall_s: int, is_told: bool) -> None:
    told = findings(Place(**{**vars(place), "wall_s": lambda: float(wall_s)}))
    assert any("clock says" in each for each in told) == is_told
    if wall_s == 0:
        assert "1970-01-01 00:00 UTC" in told[0]


def test_what_was_wrong_with_a_provided_file_is_told(place: Place) -> None:
    (place.notes / "table").write_text("The table file is refused.\nline 3: tabel\n")
    (place.notes / ".said").write_text("half a word")
    assert findings(place) == ["The table file is refused.\nline 3: tabel"]


def test_what_a_start_needs_first_is_told_first(place: Place) -> None:
    """Catches an order by name: without a table file nobody can enrol."""
    for name in ("another", "enrol", "repair", "table"):
        (place.notes / name).write_text(f"{name}\n")
    assert findings(place) == ["repair", "table", "enrol", "another"]
