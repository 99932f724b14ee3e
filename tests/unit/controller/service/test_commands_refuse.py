"""The unit's commands answer a mistyped folder or address with a sentence, and touch nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.__main__ import main
from controller.data_folder import black_box_path, health_path
from kit.command_line import REFUSED
from tests.kit.places import table_path

TABLE = ["--config", str(table_path("four-card-touch"))]
FINGERPRINT = "a" * 64


@pytest.mark.parametrize("command", ["traces", "health"])
def test_evidence_that_is_not_there_is_refused_and_not_made(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches: opening the store first, which makes an empty one, owned by whoever looked."""
    for folder in (tmp_path, tmp_path / "nowhere"):
        assert main([command, *TABLE, "--data", str(folder)]) == REFUSED
        assert "is not there" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("command", "file"), [("traces", black_box_path), ("health", health_path)])
def test_evidence_that_is_no_database_is_refused(
    command: str, file: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(file)
    file(tmp_path).write_bytes(b"no database at all, but long enough to be read as one" * 40)
    assert main([command, *TABLE, "--data", str(tmp_path)]) == REFUSED
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["0", "65536", "99999", "-1", "x", "", "\u0663"])
def test_an_impossible_port_is_refused(
    port: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--manager", f"127.0.0.1:{port}", "--ca-fingerprint", FINGERPRINT, "--code", "1"]
    assert main(["enrol", *TABLE, "--data", str(tmp_path), *place]) == REFUSED
    assert "is no address" in capsys.readouterr().err


def test_a_journal_is_restored_from_folders_that_are_there_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches: taking a mistyped --from for a unit whose records are all lost."""
    restore = ["restore", *TABLE, "--confirm", "--replace-sound"]
    assert main([*restore, "--data", str(tmp_path / "nowhere")]) == REFUSED
    assert "There is no folder" in capsys.readouterr().err
    assert main([*restore, "--data", str(tmp_path), "--from", str(tmp_path / "typo")]) == REFUSED
    assert "There is no journal" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
