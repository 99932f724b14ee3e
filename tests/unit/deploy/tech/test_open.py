"""`open BUNDLE` in words, for a program, and for what is no bundle.

Mutations this catches: an unproven bundle ends with 0, a name leads out of the folder, a refusal is
a traceback.
"""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from deploy.tech.__main__ import main
from protocol.bundle.archive import write_bundle
from tests.kit.bundles import SEALER, bytes_with

JUMPED = {"diary": {"clock_jumps": [[1, -9000]]}}


def kept(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "one.bundle.zip"
    path.write_bytes(content)
    return str(path)


def test_a_sound_unit_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["open", kept(tmp_path, bytes_with())]) == 0
    assert "Nothing that the rules know is wrong" in capsys.readouterr().out


def test_causes_come_with_evidence_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["open", kept(tmp_path, bytes_with(**JUMPED))]) == 1
    out = capsys.readouterr().out
    assert "1. The unit's clock jumped.  [clock-jump, 91 of 100]" in out
    assert "because  The date jumped by -9 s." in out
    assert "do       Look whether the time service" in out


def test_a_program_reads_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["open", "--json", kept(tmp_path, bytes_with(**JUMPED))]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["proven"] is True
    assert [cause["name"] for cause in told["causes"]] == ["clock-jump"]
    assert told["causes"][0]["evidence"] == ["The date jumped by -9 s."]


def test_an_edited_bundle_is_opened_and_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(bytes_with(**JUMPED))) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"{}" if name == "board.json" else old.read(name))
    assert main(["open", kept(tmp_path, out.getvalue())]) == 3
    said = capsys.readouterr().out
    assert "NOT PROVEN: board.json was edited" in said
    assert "clock jumped" in said


def test_another_units_key_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["open", "--key", "00" * 32, kept(tmp_path, bytes_with())]) == 3
    said = capsys.readouterr().out
    assert "another key than this unit's" in said
    assert "this bundle is not proven: take a new one" in said
    assert "Nothing that the rules know is wrong" not in said, "nobody can know that"


def test_what_is_no_bundle_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (kept(tmp_path, b"hello"), str(tmp_path / "nowhere.zip")):
        assert main(["open", path]) == 2
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1
        assert "Traceback" not in said


def test_files_are_written_below_the_folder_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "here"
    assert main(["open", "--extract", str(folder), kept(tmp_path, bytes_with())]) == 0
    assert json.loads((folder / "diary.json").read_bytes()) == {}
    evil = write_bundle({"unit": "UF-1"}, {"../out.json": b"{}"}, SEALER)
    assert main(["open", "--extract", str(folder), kept(tmp_path, evil)]) == 2
    assert "outside of" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()
