"""The books as another manager writes them: read as of one moment, and never written."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import apsw
import pytest

from manager.ledger.engines.engine import Batch, StorageFailed
from manager.ledger.engines.places import engine_at, reader_at
from manager.ledger.engines.relations import WINS
from manager.ledger.errors import StoreError
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store
from manager.ledger.store.watching import WatchingEngine
from tests.kit.pretend_units import Clock, desk_with_a_win


def test_whoever_watches_sees_the_same_books_and_commits_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    desk = desk_with_a_win(path)
    engine = WatchingEngine(partial(reader_at, path))
    watched = Store(engine, Clock(), path)
    assert watched.tail() == desk.store.tail()
    assert watched.genesis() == desk.store.genesis()
    assert watched.find(WINS, {}) == desk.store.find(WINS, {})
    assert watched.balance("players") == desk.store.balance("players")
    for act in (engine.commit, engine.resolve):
        with pytest.raises(StorageFailed, match="Another manager"):
            act(Batch(desk.store.tail(), desk.store.tail()))
    watched.close()
    desk.store.close()


def test_a_ledger_without_an_entry_has_no_tail_to_watch(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    Store(engine_at(path, None, os.urandom), Clock(), path).close()
    loaded = WatchingEngine(partial(reader_at, path)).load()
    assert loaded.tail is None


def test_a_ledger_that_lost_its_identity_is_not_watched(tmp_path: Path) -> None:
    """Catches: pages of a damaged ledger that look like sound ones."""
    path = str(tmp_path / "ledger.sqlite")
    Store(engine_at(path, None, os.urandom), Clock(), path).close()
    connection = apsw.Connection(path)
    for (trigger,) in list(
        connection.execute("SELECT name FROM sqlite_schema WHERE type='trigger'")
    ):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("DELETE FROM meta")
    connection.close()
    with pytest.raises(StoreError, match="lost its own identity"):
        WatchingEngine(partial(reader_at, path)).load()
    with pytest.raises(StoreError, match="lost its own identity"):
        Ledger(reader_at(path)).genesis()


def test_whoever_watches_has_no_lease_and_lets_go_of_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    Store(engine_at(path, None, os.urandom), Clock(), path).close()
    engine = WatchingEngine(partial(reader_at, path))
    assert engine.acquire() == 0
    engine.close()
    with pytest.raises((StorageFailed, StoreError)):
        engine.find(WINS, {})
