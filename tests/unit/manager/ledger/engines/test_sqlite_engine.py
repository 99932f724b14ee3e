"""How the ledger's own file is opened."""

from __future__ import annotations

from pathlib import Path

from manager.ledger.engines.sqlite_engine import SqliteEngine

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
