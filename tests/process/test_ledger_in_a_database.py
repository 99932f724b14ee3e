"""A manager whose ledger is in PostgreSQL: served, corrected, audited, moved and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from manager.__main__ import main
from manager.data_folder import LEDGER_NAME
from manager.ledger_place import DATABASE_NAME
from tests.kit.people import people_of_a_folder, type_passwords
from tests.kit.postgres_server import PostgresServer, is_installed
from tests.kit.pretend_books import Books, document
from tests.kit.serving_manager import serving

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL is not installed here")
BOTH = ("--operator", "Ann", "--second", "Bob")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def url(server: PostgresServer) -> Iterator[str]:
    """An empty database of its own."""
    with psycopg.connect(server.url(), autocommit=True) as superuser:
        superuser.execute("CREATE DATABASE ledger")
    yield server.url().replace("/postgres?", "/ledger?")
    with psycopg.connect(server.url(), autocommit=True) as superuser:
        superuser.execute("DROP DATABASE ledger WITH (FORCE)")


def play(place: str) -> None:
    books = Books(place)
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.store.close()


def said(capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> tuple[int, str]:
    code = main([words[0], "--data", str(data), *words[1:]])
    captured = capsys.readouterr()
    return code, (captured.out + captured.err).strip()


def test_every_command_finds_the_ledger_in_the_database(
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert main(["make-ledger", url]) == 0
    play(url)
    (tmp_path / DATABASE_NAME).write_text(url)
    people_of_a_folder(tmp_path, Ann="executive", Bob="executive")
    type_passwords(monkeypatch, 3)
    with serving(tmp_path):
        assert said(capsys, tmp_path, "audit")[0] == 0
        code, told = said(capsys, tmp_path, "explain", "1")
        assert (code, "Win 1" in told) == (0, True)
        words = ("suspend", "main", "--reason", "malfunction", *BOTH[:2])
        assert said(capsys, tmp_path, *words)[0] == 0
    assert said(capsys, tmp_path, "resume", "main", *BOTH)[0] == 0
    assert said(capsys, tmp_path, "export", "--out", str(tmp_path / "out"))[0] == 0
    assert main(["audit-export", str(tmp_path / "out")]) == 0
    assert not (tmp_path / LEDGER_NAME).exists()


def test_a_ledger_moves_into_a_database_and_back_without_a_difference(
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play(str(tmp_path / LEDGER_NAME))
    people_of_a_folder(tmp_path, Ann="executive", Bob="executive")
    type_passwords(monkeypatch)
    before, explained = said(capsys, tmp_path, "audit"), said(capsys, tmp_path, "explain", "1")
    code, told = said(capsys, tmp_path, "move-ledger", url)
    assert (code, "was moved" in told) == (0, True)
    assert not (tmp_path / LEDGER_NAME).exists()
    assert (tmp_path / (LEDGER_NAME + ".moved")).exists()
    assert said(capsys, tmp_path, "audit") == before
    assert said(capsys, tmp_path, "explain", "1") == explained
    assert said(capsys, tmp_path, "resume", "main", *BOTH)[0] == 2  # it was not suspended
    assert said(capsys, tmp_path, "move-ledger", "folder")[0] == 0
    assert not (tmp_path / DATABASE_NAME).exists()
    assert said(capsys, tmp_path, "audit") == before
    assert said(capsys, tmp_path, "explain", "1") == explained


def test_a_ledger_that_is_there_is_never_written_over(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["make-ledger", url]) == 0
    assert main(["make-ledger", url]) == 2
    assert "already" in capsys.readouterr().err
    play(str(tmp_path / LEDGER_NAME))
    code, told = said(capsys, tmp_path, "move-ledger", url)
    assert (code, "already" in told) == (2, True)
    assert (tmp_path / LEDGER_NAME).exists()


def test_a_served_ledger_is_not_moved(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play(str(tmp_path / LEDGER_NAME))
    with serving(tmp_path):
        code, told = said(capsys, tmp_path, "move-ledger", url)
    assert (code, "stop it first" in told) == (2, True)


def test_an_empty_database_says_what_to_do(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["serve", "--port", "0", "--web-port", "0", "--database", url]
    code = main([*words, "--data", str(tmp_path)])
    told = capsys.readouterr().err
    assert (code, "make-ledger" in told) == (2, True)
