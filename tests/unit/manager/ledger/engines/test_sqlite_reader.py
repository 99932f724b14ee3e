"""Where a file's transactions lie: its archives one after the other, and then the file itself."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from manager.ledger.engines.archives import Archive
from manager.ledger.engines.engine import NEVER
from manager.ledger.engines.sqlite_engine import SqliteEngine, open_reader
from manager.ledger.engines.sqlite_reader import SqliteReader, opened_to_read

ARCHIVES = [Archive(Path(f"{last}.db"), last - 9, last) for last in (10, 20, 30)]


@pytest.mark.parametrize("count", range(len(ARCHIVES) + 1))
def test_the_file_goes_on_where_its_newest_archive_ends(count: int) -> None:
    """Catches: transactions that an audit asks for twice, or nowhere, however many archives."""
    reader = SqliteReader(apsw.Connection(":memory:"), ARCHIVES[:count])
    found = [(part.prefix, part.first, part.last) for part in reader.parts()]
    older = [(f"archive_{n}.", 10 * n - 9, 10 * n) for n in range(1, count + 1)]
    assert found == [*older, ("main.", 10 * count + 1, NEVER)]
    reader.close()


def test_a_reader_waits_where_a_checkpoint_has_locked_the_file(tmp_path: Path) -> None:
    """Catches: a report or an audit refused because the manager was writing at that moment."""
    path = tmp_path / "ledger.sqlite"
    apsw.Connection(str(path)).close()
    reader = opened_to_read(str(path))
    patience_ms = reader.pragma("busy_timeout")
    assert 1000 <= patience_ms <= 10_000, "longer than a checkpoint, shorter than a person waits"
    reader.close()


def nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a medium mounted for reading, which not even root can write."""
    monkeypatch.setattr(os, "access", lambda _place, how, **_more: how != os.W_OK)


def test_a_ledger_on_a_medium_for_reading_is_read_and_nothing_is_made_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: an auditor's sound copy called damaged, because SQLite could make no file there."""
    path = tmp_path / "a ledger?.sqlite"
    engine = SqliteEngine(str(path))
    engine.acquire()
    engine.close()
    nothing_can_be_written(monkeypatch)
    reader = open_reader(str(path))
    assert list(reader.rows("SELECT count(*) FROM meta")) == [(1,)]
    assert not list(tmp_path.glob("*-shm"))
    reader.close()


def test_a_log_is_never_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: entries that are only in the log, and a copy that seems whole without them."""
    engine = SqliteEngine(str(tmp_path / "ledger.sqlite"))
    engine.acquire()
    engine.connection.execute("INSERT INTO meta VALUES ('late', x'00')")
    nothing_can_be_written(monkeypatch)
    reader = open_reader(str(tmp_path / "ledger.sqlite"))
    assert list(reader.rows("SELECT count(*) FROM meta")) == [(2,)]
    reader.close()
    engine.close()
