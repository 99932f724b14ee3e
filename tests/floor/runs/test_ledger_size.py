"""What does not depend on the machine: how much a wager takes on the disk, and what a start reads.

Mutations this catches: another index or another copy of an event's words; a start that looks
through the log, whose time would grow with the years.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from manager.app import Manager
from manager.data_folder import LEDGER_NAME
from manager.ledger.engines import sqlite_engine, sqlite_reader
from sim.runs.floor.clients import SENSORS
from sim.runs.floor.property import open_tables, unit_names
from sim.runs.perf.books import BATCH, BEGUN_MS, ROUND_MS, event_batches

KEPT_BYTES_MAX = 120
TABLES, ROUNDS = 20, 40
STEPS = 10  # of SQLite's own machine; a start that reads the log takes thousands more


def play(path: Path, rounds: int) -> float:
    """Returns what a wager takes in bytes, with its indexes."""
    clock = [BEGUN_MS]
    manager = Manager(str(path), lambda: clock[0])
    names = unit_names(TABLES)
    open_tables(manager, names)
    before = _bytes(path)
    for batch in event_batches(manager, names, rounds, BATCH):
        clock[0] += ROUND_MS * BATCH // (2 * TABLES)
        manager.intake.take(batch)
    kept = (_bytes(path) - before) / (TABLES * rounds * len(SENSORS))
    manager.store.close()
    return kept


def _bytes(path: Path) -> int:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
    finally:
        connection.close()


def test_a_wager_takes_at_most_so_many_bytes(tmp_path: Path) -> None:
    assert play(tmp_path / LEDGER_NAME, ROUNDS) <= KEPT_BYTES_MAX


def steps_of_a_start(path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How much SQLite does until the books stand, in tens of its own instructions."""
    taken = [0]
    opened = sqlite_reader.opened

    def counted(*arguments: Any, **options: Any) -> apsw.Connection:
        connection = opened(*arguments, **options)

        def more() -> bool:
            taken[0] += 1
            return False

        connection.set_progress_handler(more, STEPS)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_engine, "opened", counted)
        patch.setattr(sqlite_reader, "opened", counted)
        Manager(str(path), lambda: BEGUN_MS).store.close()
    return taken[0]


def test_a_start_reads_no_more_after_ten_times_as_many_wagers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = tmp_path / "few.sqlite", tmp_path / "many.sqlite"
    play(few, 3)
    play(many, 30)
    assert steps_of_a_start(many, monkeypatch) <= steps_of_a_start(few, monkeypatch) * 1.1
