"""How the ledger's own file is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from manager.ledger.engines import sqlite_engine
from manager.ledger.engines.engine import Batch, Fenced, Tail
from manager.ledger.engines.relations import RELATIONS, TRANSACTIONS
from manager.ledger.engines.sqlite_copy import write_whole
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.errors import StoreError
from sim.storage.disk import SimDisk

FULL = 2


def test_a_commit_is_durable_and_nothing_in_the_file_is_run(tmp_path: Path) -> None:
    """Catches: a commit that a power cut takes back, or a planted schema that calls functions."""
    engine = SqliteEngine(str(tmp_path / "ledger.sqlite"))
    engine.acquire()
    pragma = engine.connection.pragma
    assert pragma("journal_mode") == "wal"
    assert pragma("synchronous") == FULL
    assert pragma("recursive_triggers") == 1, "REPLACE must meet the guards as well"
    assert pragma("trusted_schema") == 0
    engine.close()


@pytest.mark.parametrize("refused", ["file", "folder", ""])
def test_a_ledger_is_written_where_both_its_file_and_its_folder_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    """Catches: a read-only folder whose ledger is called damaged, because the file is writable."""
    path = tmp_path / "ledger.sqlite"
    assert sqlite_engine._may_write(str(path)), "there is none yet, and one can be made"
    path.touch()
    places = {"file": str(path), "folder": str(tmp_path)}
    monkeypatch.setattr(os, "access", lambda place, *_how, **_more: place != places.get(refused))
    assert sqlite_engine._may_write(str(path)) is (not refused)


def test_a_full_disk_is_not_called_damage() -> None:
    """Catches: an operator who puts a backup back because there was no room for a new page."""
    disk = SimDisk(1)
    disk.size_max_bytes = 8192
    try:
        with pytest.raises(StoreError, match="cannot be written: database or disk is full"):
            SqliteEngine("ledger.sqlite", vfs=disk.vfs_name).acquire()
    finally:
        disk.close()


def test_a_ledger_without_its_identity_is_not_served(tmp_path: Path) -> None:
    """Catches: a damaged file that goes on as a new ledger, which no unit's history fits."""
    engine = SqliteEngine(str(tmp_path / "ledger.sqlite"))
    engine.acquire()
    assert len(engine.load().ledger_id) == sqlite_engine.LEDGER_ID_BYTES
    for (trigger,) in list(
        engine.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    ):
        engine.connection.execute(f"DROP TRIGGER {trigger}")
    engine.connection.execute("DELETE FROM meta")
    with pytest.raises(StoreError, match="lost its own identity"):
        engine.load()
    engine.close()


def test_what_does_not_follow_the_last_transaction_is_not_written(tmp_path: Path) -> None:
    """Catches: two writers of one ledger, and the second one's cents in place of the first's."""
    engine = SqliteEngine(str(tmp_path / "ledger.sqlite"))
    engine.acquire()
    first, second = Tail(1, b"\x01" * 32), Tail(2, b"\x02" * 32)
    for previous in (first, second):
        with pytest.raises(Fenced):
            engine.commit(noted(previous, Tail(previous.number + 1, bytes(32))))
    engine.commit(noted(Tail(0, bytes(32)), first))
    others = (Tail(0, bytes(32)), Tail(1, bytes(32)), second)
    for previous in others:
        with pytest.raises(Fenced):
            engine.commit(noted(previous, second))
    assert engine.load().tail == first
    assert engine.resolve(noted(Tail(0, bytes(32)), first))
    assert not engine.resolve(noted(first, second))
    engine.commit(noted(first, second))
    assert engine.load().tail == second
    engine.close()


def noted(previous: Tail, newest: Tail) -> Batch:
    """One transaction that moves nothing."""
    head = (newest.number, "NOTE", "", 0, "", 0, "Noted.", "{}", 1, "", 0, 0, 0, b"")
    row = (*head, b"", 0, b"", b"", newest.digest)
    return Batch(previous, newest, {TRANSACTIONS.name: {(newest.number,): row}})


def test_a_ledger_that_somebody_has_open_is_not_written_whole(tmp_path: Path) -> None:
    """Catches: a restored backup that is written into the file of a manager that serves."""
    path = str(tmp_path / "ledger.sqlite")
    serving = SqliteEngine(path)
    serving.acquire()
    with pytest.raises(StoreError, match="There is a ledger in"):
        write_whole(path, bytes(16), {name: [] for name in RELATIONS})
    serving.close()
