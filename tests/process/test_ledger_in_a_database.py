"""A manager whose ledger is in PostgreSQL: served, corrected, audited, moved and back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from manager.__main__ import main
from manager.app import Manager
from manager.audit.audit import audit
from manager.cli import ledger as ledger_commands
from manager.data_folder import LEDGER_NAME
from manager.explain.statement import explain
from manager.intake.seals import Seals
from manager.ledger.engines.archives import FOLDER, archives_in
from manager.ledger.engines.engine import Owner
from manager.ledger.engines.relations import EVENTS, POSTINGS, TRANSACTIONS
from manager.ledger.errors import LedgerError, StoreError
from manager.ledger.reports.bank import counts
from manager.ledger.reports.day_reports import day_report
from manager.ledger.reports.gaming_day import GamingDay
from manager.ledger_place import DATABASE_NAME
from manager.ledger_reader import ledger_to_read
from manager.web.floor.history import history
from tests.kit.people import people_of_a_folder, type_passwords
from tests.kit.postgres_server import PostgresServer, is_installed
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
        assert "a manager without a name" in typed(tmp_path, capsys, "who-owns")[1]
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
    tail = tail_of(tmp_path)
    code, told = typed(tmp_path, capsys, "move-ledger", url)
    assert (code, "was moved" in told) == (0, True)
    assert tail_of(tmp_path) == tail
    assert not (tmp_path / LEDGER_NAME).exists()
    assert (tmp_path / (LEDGER_NAME + ".moved")).exists()
    assert typed(tmp_path, capsys, "audit") == before
    assert typed(tmp_path, capsys, "explain", "1") == explained
    assert typed(tmp_path, capsys, "resume", "main", *BOTH)[0] == 2  # it was not suspended
    tail = tail_of(tmp_path)
    assert typed(tmp_path, capsys, "move-ledger", "folder")[0] == 0
    assert not (tmp_path / DATABASE_NAME).exists()
    assert tail_of(tmp_path) == tail
    assert typed(tmp_path, capsys, "audit") == before
    assert typed(tmp_path, capsys, "explain", "1") == explained


def tail_of(data: Path) -> tuple[int, bytes]:
    """The newest transaction's number and digest, wherever the ledger is now."""
    with ledger_to_read(data) as ledger:
        (newest,) = ledger.find(TRANSACTIONS, {}, newest=1)
    return newest[0], newest[-1]


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


def test_a_ledger_that_somebody_went_on_with_is_not_moved(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: entries that a manager which stood by booked between the copy and its end."""
    assert main(["make-ledger", url]) == 0
    play_one_win(url)
    (tmp_path / DATABASE_NAME).write_text(url)

    def stood_by(ledger: Any) -> Any:
        manager = Manager(url, lambda: 0)
        manager.book.alarms.record("CLOCK", "A manager that stood by took over.")
        manager.store.close()
        return audit(ledger)

    monkeypatch.setattr(ledger_commands, "audit", stood_by)
    code, told = typed(tmp_path, capsys, "move-ledger", "folder")
    assert (code, "meanwhile" in told) == (2, True), told
    assert not (tmp_path / LEDGER_NAME).exists()
    assert typed(tmp_path, capsys, "audit")[0] == 0


def test_a_ledger_with_archived_days_moves_like_any_other(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches: a copy that is proven without its archives, and so is never sound."""
    play_one_win(str(tmp_path / LEDGER_NAME))
    assert typed(tmp_path, capsys, "close-day")[0] == 0
    assert typed(tmp_path, capsys, "archive", "--keep-days", "0")[0] == 0
    before, tail = typed(tmp_path, capsys, "audit"), tail_of(tmp_path)
    for to in (url, "folder", url, "folder"):  # what stayed behind is in nobody's way
        code, told = typed(tmp_path, capsys, "move-ledger", to)
        assert (code, "was moved" in told) == (0, True), told
        assert (typed(tmp_path, capsys, "audit"), tail_of(tmp_path)) == (before, tail)


@pytest.fixture
def writer(server: PostgresServer, url: str) -> Iterator[str]:
    """A role that owns nothing, as managers of a property sign in with."""
    with psycopg.connect(server.url(), autocommit=True) as superuser:
        superuser.execute("CREATE ROLE uf_writer LOGIN")
    yield "uf_writer"
    with psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute("DROP OWNED BY uf_writer")
        superuser.execute("DROP ROLE uf_writer")


def test_a_moved_ledger_is_served_by_the_role_that_owns_nothing(
    server: PostgresServer,
    url: str,
    writer: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Catches: a ledger that only its owner can serve from, who may also change what is written."""
    play_one_win(str(tmp_path / LEDGER_NAME))
    assert typed(tmp_path, capsys, "move-ledger", url, "--writer", writer)[0] == 0
    as_writer = server.url(writer).replace("/postgres?", "/ledger?")
    manager = Manager(as_writer, lambda: 0)
    before = manager.store.tail().number
    manager.book.alarms.record("CLOCK", "The writer can write.")
    assert manager.store.tail().number > before
    manager.store.close()
    with psycopg.connect(as_writer) as line, pytest.raises(psycopg.errors.InsufficientPrivilege):
        line.execute("DELETE FROM underfelt.transactions")
    # Back again: only the owner can see to it that nobody goes on with what stays behind.
    (tmp_path / DATABASE_NAME).write_text(as_writer)
    before, tail = typed(tmp_path, capsys, "audit"), tail_of(tmp_path)
    code, told = typed(tmp_path, capsys, "move-ledger", "folder")
    assert (code, "Nothing was moved" in told) == (2, True), told
    assert (typed(tmp_path, capsys, "audit"), tail_of(tmp_path)) == (before, tail)
    assert typed(tmp_path, capsys, "move-ledger", "folder", "--as", url)[0] == 0
    assert (typed(tmp_path, capsys, "audit"), tail_of(tmp_path)) == (before, tail)
    with pytest.raises(StoreError, match="There is no ledger"):
        Manager(as_writer, lambda: 0)


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


@pytest.mark.parametrize("named", ["an empty database", "nobody listens", "no database's name"])
def test_a_database_that_has_no_ledger_is_not_remembered(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], named: str
) -> None:
    """Catches: a slip of the pen that every later start and command would follow."""
    known = {"an empty database": url, "nobody listens": "postgresql://127.0.0.1:1/ledger"}
    words = ["--port", "0", "--web-port", "0", "--database", known.get(named, named)]
    code, told = typed(tmp_path, capsys, "serve", *words)
    assert (code, told.count("\n")) == (2, 0)
    assert not (tmp_path / DATABASE_NAME).exists()


def test_a_folder_with_a_ledger_takes_up_no_other_one(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches: an option that puts the house's books aside for an empty ledger without a word."""
    assert main(["make-ledger", url]) == 0
    play_one_win(str(tmp_path / LEDGER_NAME))
    capsys.readouterr()
    before = typed(tmp_path, capsys, "audit")
    words = ["--port", "0", "--web-port", "0", "--database", url]
    code, told = typed(tmp_path, capsys, "serve", *words)
    assert (code, "move-ledger" in told) == (2, True)
    assert typed(tmp_path, capsys, "audit") == before


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


# Catches: a query of a serving manager that asks the database alone. Each of these was wrong then
# without a word: nothing wagered, no award, a meter that never played, an event never heard of.
def test_a_manager_on_a_database_knows_its_archived_days(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["make-ledger", url]) == 0
    play_one_win(url)
    (tmp_path / DATABASE_NAME).write_text(url)
    assert typed(tmp_path, capsys, "close-day")[0] == 0
    before = known_of(url, tmp_path)
    assert typed(tmp_path, capsys, "archive", "--keep-days", "0")[0] == 0
    (archived,) = archives_in(tmp_path / FOLDER)
    assert known_of(url, tmp_path) == before
    archived.path.unlink()
    with pytest.raises(StoreError, match="archive with transaction 1 is missing"):
        known_of(url, tmp_path)


def known_of(url: str, data: Path) -> dict[str, Any]:
    """What pages, reports, corrections and repeats need of the chain."""
    manager = Manager(url, lambda: 0, owner=Owner(archive_folder=data / FOLDER))
    book, store, day = manager.book, manager.store, GamingDay()
    try:
        with pytest.raises(LedgerError, match="has taken wagers"):
            book.jackpots.restate_opening("main", 1)
        first_ms = store.find(TRANSACTIONS, {"number": 1})[0][8]
        now_ms = store.last_commit_ms
        return {
            "counts": counts(book, "main"),
            "day": day_report(book, day.of(now_ms), day),
            "history": asyncio.run(history(book, "main", now_ms - first_ms + 1, now_ms)),
            "explained": explain(store, 1),
            "before": book.jackpots.state_before("main", store.tail().number),
            "since": store.first_since(first_ms),
            "journals": Seals(store).journals(),
            "newest": store.find(TRANSACTIONS, {}, newest=2),
            "events": store.find(EVENTS, {"unit_id": "UF-touch-1"}),
            "one": store.find(EVENTS, {"unit_id": "UF-touch-1"}, newest=1, below=3),
            "postings": store.find(POSTINGS, {}),
        }
    finally:
        store.close()
