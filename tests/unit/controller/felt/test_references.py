"""The empty-felt references: kept whole, refused when doubtful, never invented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.felt.references import ReferencesFault, load_references, save_references

SENSORS = ["1A", "2A"]


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "references.json"
    save_references(path, "UF-1", {"1A": 700, "2A": 690})
    assert load_references(path, "UF-1", SENSORS) == {"1A": 700, "2A": 690}
    assert [file.name for file in tmp_path.iterdir()] == ["references.json"]


def test_a_unit_that_was_never_calibrated_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReferencesFault, match="never calibrated"):
        load_references(tmp_path / "references.json", "UF-1", SENSORS)


def test_one_changed_digit_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "references.json"
    save_references(path, "UF-1", {"1A": 700, "2A": 690})
    path.write_text(path.read_text().replace("690", "691"))
    with pytest.raises(ReferencesFault, match="damaged"):
        load_references(path, "UF-1", SENSORS)


def test_another_boards_references_are_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "references.json"
    save_references(path, "UF-2", {"1A": 700, "2A": 690})
    with pytest.raises(ReferencesFault, match="UF-2"):
        load_references(path, "UF-1", SENSORS)


@pytest.mark.parametrize("raw", [0, 1 << 24, -1])
def test_a_reference_no_chip_could_measure_is_refused(tmp_path: Path, raw: int) -> None:
    path = tmp_path / "references.json"
    save_references(path, "UF-1", {"1A": 700, "2A": raw})
    with pytest.raises(ReferencesFault, match="2A"):
        load_references(path, "UF-1", SENSORS)


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"body": 3, "crc32": 0})])
def test_a_file_that_is_something_else_is_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "references.json"
    path.write_text(text)
    with pytest.raises(ReferencesFault):
        load_references(path, "UF-1", SENSORS)
