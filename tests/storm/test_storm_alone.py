"""When a game that is found at a start began: before the power went, not when it was found.

Seed 840197599 accused a unit whose power went inside its disk, while START was being written.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import apsw
import pytest

from hal import aio
from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.journal_watch import Row
from sim.runs.storm.checks.table_watch import SILENCE_MAX_MS, TableWatch
from sim.runs.storm.record import Record, Violation
from sim.time.loop import run_virtual

STARTED = Row(1, kinds.ROUND_START, {}, b"")
OFF_MS = 6000


def found_at_a_start(alone_ms: int, monkeypatch: pytest.MonkeyPatch) -> list[Violation]:
    """What is said of a game that was written `alone_ms` after the manager was last heard."""

    async def story() -> list[Violation]:
        record = Record()
        watch = TableWatch("table", ["1A"], record, lambda: False)
        watch.journal.boot_count = 1
        watch.heard()
        await aio.sleep_ms(alone_ms)
        watch.power_goes(cast(Any, SimpleNamespace(untold_since_s=None)))
        await aio.sleep_ms(OFF_MS)

        def booted(connection: apsw.Connection) -> int:
            watch._recorded(STARTED)
            return 1

        monkeypatch.setattr(watch.journal, "booted", booted)
        watch.booted(apsw.Connection(":memory:"), "RUN")
        return record.violations

    return run_virtual(story())


def test_a_game_written_in_time_is_none_begun_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_at_a_start(SILENCE_MAX_MS - OFF_MS + 1000, monkeypatch) == []


def test_a_game_written_too_late_is_told_when_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    (violation,) = found_at_a_start(SILENCE_MAX_MS + 1, monkeypatch)
    assert violation.rule == "no game starts offline"
    assert f"after {SILENCE_MAX_MS + 1} ms" in violation.sentence
