"""Auditors read and operators correct beside a serving manager, which is a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.__main__ import main
from manager.control import SOCKET_NAME
from manager.data_folder import LEDGER_NAME
from tests.kit.people import people_of_a_folder, type_passwords
from tests.kit.serving_manager import serving
from tests.kit.typed_commands import play_one_win, typed

BOTH = ("--operator", "Ann", "--second", "Bob")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    play_one_win(str(tmp_path / LEDGER_NAME))
    people_of_a_folder(tmp_path, Ann="executive", Bob="executive")
    type_passwords(monkeypatch, 40)
    return tmp_path


def test_a_serving_manager_takes_corrections_and_nobody_else_may_open_its_door(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(data):
        assert (data / SOCKET_NAME).stat().st_mode & 0o777 == 0o600
        done = typed(data, capsys, "suspend", "main", "--reason", "malfunction", *BOTH[:2])
        again = typed(data, capsys, "suspend", "main", "--reason", "malfunction", *BOTH[:2])
    assert done == (0, "Jackpot main is suspended: its tables start no game.")
    assert again[0] == 2
    # With the manager gone, its socket leads nowhere and the ledger is opened again.
    assert typed(data, capsys, "resume", "main", *BOTH)[0] == 0


def test_audit_explain_and_export_work_while_the_manager_serves(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "ledger.export")
    commands = (["audit"], ["explain", "1"], ["export", "--out", out])
    with serving(data):
        codes = [main([*words, "--data", str(data)]) for words in commands]
    said = capsys.readouterr().out
    assert codes == [0, 0, 0]
    assert "ledger transactions" in said
    assert "Win 1" in said
    assert main(["audit-export", out]) == 0
