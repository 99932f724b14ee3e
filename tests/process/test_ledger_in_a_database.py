"""A manager whose ledger is in PostgreSQL: served, corrected, audited, moved and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.__main__ import main
from manager.data_folder import LEDGER_NAME
from manager.ledger_place import DATABASE_NAME
from tests.kit.people import people_of_a_folder, type_passwords
from tests.kit.postgres_server import is_installed
from tests.kit.serving_manager import serving
from tests.kit.typed_commands import play_one_win, typed

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL is not installed here")
BOTH = ("--operator", "Ann", "--second", "Bob")


def test_every_command_finds_the_ledger_in_the_database(
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert main(["make-ledger", url]) == 0
    play_one_win(url)
    (tmp_path / DATABASE_NAME).write_text(url)
    people_of_a_folder(tmp_path, Ann="executive", Bob="executive")
    type_passwords(monkeypatch, 3)
    with serving(tmp_path):
        assert typed(tmp_path, capsys, "audit")[0] == 0
        code, told = typed(tmp_path, capsys, "explain", "1")
        assert (code, "Win 1" in told) == (0, True)
        words = ("suspend", "main", "--reason", "malfunction", *BOTH[:2])
        assert typed(tmp_path, capsys, *words)[0] == 0
    assert typed(tmp_path, capsys, "resume", "main", *BOTH)[0] == 0
    assert typed(tmp_path, capsys, "export", "--out", str(tmp_path / "out"))[0] == 0
    assert main(["audit-export", str(tmp_path / "out")]) == 0
    assert not (tmp_path / LEDGER_NAME).exists()


def test_a_ledger_moves_into_a_database_and_back_without_a_difference(
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play_one_win(str(tmp_path / LEDGER_NAME))
    people_of_a_folder(tmp_path, Ann="executive", Bob="executive")
    type_passwords(monkeypatch)
    before, explained = typed(tmp_path, capsys, "audit"), typed(tmp_path, capsys, "explain", "1")
    code, told = typed(tmp_path, capsys, "move-ledger", url)
    assert (code, "was moved" in told) == (0, True)
    assert not (tmp_path / LEDGER_NAME).exists()
    assert (tmp_path / (LEDGER_NAME + ".moved")).exists()
    assert typed(tmp_path, capsys, "audit") == before
    assert typed(tmp_path, capsys, "explain", "1") == explained
    assert typed(tmp_path, capsys, "resume", "main", *BOTH)[0] == 2  # it was not suspended
    assert typed(tmp_path, capsys, "move-ledger", "folder")[0] == 0
    assert not (tmp_path / DATABASE_NAME).exists()
    assert typed(tmp_path, capsys, "audit") == before
    assert typed(tmp_path, capsys, "explain", "1") == explained


def test_a_ledger_that_is_there_is_never_written_over(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["make-ledger", url]) == 0
    assert main(["make-ledger", url]) == 2
    assert "already" in capsys.readouterr().err
    play_one_win(str(tmp_path / LEDGER_NAME))
    code, told = typed(tmp_path, capsys, "move-ledger", url)
    assert (code, "already" in told) == (2, True)
    assert (tmp_path / LEDGER_NAME).exists()


def test_a_served_ledger_is_not_moved(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play_one_win(str(tmp_path / LEDGER_NAME))
    with serving(tmp_path):
        code, told = typed(tmp_path, capsys, "move-ledger", url)
    assert (code, "stop it first" in told) == (2, True)


def test_an_empty_database_says_what_to_do(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["serve", "--port", "0", "--web-port", "0", "--database", url]
    code = main([*words, "--data", str(tmp_path)])
    told = capsys.readouterr().err
    assert (code, "make-ledger" in told) == (2, True)


def test_closed_days_of_a_database_go_into_files_that_commands_read(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["make-ledger", url]) == 0
    play_one_win(url)
    (tmp_path / DATABASE_NAME).write_text(url)
    code, told = typed(tmp_path, capsys, "close-day")
    assert (code, "is closed with transaction" in told) == (0, True)
    before, explained = typed(tmp_path, capsys, "audit"), typed(tmp_path, capsys, "explain", "1")
    code, told = typed(tmp_path, capsys, "archive", "--keep-days", "0")
    assert (code, "Transactions up to" in told) == (0, True), told
    assert typed(tmp_path, capsys, "audit") == before
    assert typed(tmp_path, capsys, "explain", "1") == explained
    assert typed(tmp_path, capsys, "audit", "--resume")[0] == 0
    with serving(tmp_path):
        assert typed(tmp_path, capsys, "audit") == before
