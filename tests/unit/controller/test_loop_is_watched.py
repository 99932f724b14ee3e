"""The unit's own loop is watched: who holds it is in the log by name, and the table goes on.

Mutations these catch: a watch that nobody starts, and one whose death ends the table.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from controller import __main__ as unit
from controller.tasks import UnitTasks
from hal import loop_watch
from hal.loop_watch import LoopWatch
from kit.tasks import stop_asked

LONG_ENOUGH_S = 30.0


class Table:
    """As much of a unit as the process around it sees; `act` is what it does."""

    def __init__(self, act: Any) -> None:
        self.tasks = UnitTasks(lambda name, error: None)
        self.pages = None
        self.evidence = SimpleNamespace(diary=SimpleNamespace(loop_held=lambda stall: None))
        self.resumed = asyncio.Event()
        self.resumed.set()
        self._act = act

    async def run(self) -> None:
        try:
            await self._act()
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.Event().wait()
        finally:
            await self.tasks.stop()

    async def proves_progress(self) -> bool:
        return True

    def state(self) -> str:
        return "open"


def run(table: Table) -> None:
    async def pages() -> None:
        await asyncio.Event().wait()

    async def run_until_asked() -> None:
        await unit._run_until_asked(cast(Any, table), pages(), stop_asked())

    asyncio.run(run_until_asked())


def test_whoever_holds_the_units_loop_is_logged_by_name(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The callback holds a real loop until the sampler has seen it: no sleeping, no guessing."""
    seen, logged = threading.Event(), asyncio.Event()
    sample, judge = LoopWatch.sample, LoopWatch._judge

    def sample_and_tell(watch: LoopWatch) -> str:
        culprit = sample(watch)
        if "hold_the_loop" in culprit:
            seen.set()
        return culprit

    def judge_and_tell(watch: LoopWatch, late_s: float) -> None:
        judge(watch, late_s)
        if seen.is_set():
            logged.set()

    monkeypatch.setattr(LoopWatch, "sample", sample_and_tell)
    monkeypatch.setattr(LoopWatch, "_judge", judge_and_tell)
    monkeypatch.setattr(loop_watch, "LOUD_MIN_S", 0.0)

    def hold_the_loop() -> None:
        assert seen.wait(LONG_ENOUGH_S), "the sampler never saw who holds the loop"

    async def act() -> None:
        asyncio.get_running_loop().call_soon(hold_the_loop)
        await asyncio.wait_for(logged.wait(), LONG_ENOUGH_S)

    with caplog.at_level(logging.WARNING, "hal.loop_watch"):
        run(Table(act))
    assert "hold_the_loop" in caplog.text
    assert "The loop was held for" in caplog.text


def test_a_watch_that_dies_does_not_end_the_table(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def die(watch: LoopWatch) -> None:
        raise RuntimeError("no thread could be started")

    monkeypatch.setattr(LoopWatch, "run", die)
    acted: list[str] = []

    async def act() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        acted.append("still here")

    run(Table(act))
    assert acted == ["still here"]
    assert "task loop-watch died" in caplog.text
