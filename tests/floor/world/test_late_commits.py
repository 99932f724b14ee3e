"""A simulated manager whose commits take a while: what stands in memory goes with the power."""

from __future__ import annotations

import asyncio

from sim.floor.manager import SimManager
from sim.time.loop import run_virtual
from tests.kit.pretend_units import Clock, table_toml

COMMIT_MS = 50.0


async def newest_after(wait_s: float) -> str:
    """The newest alarm after a power cut so long after it was recorded."""
    manager = SimManager(1, Clock(), lambda: COMMIT_MS)
    manager.open_table(table_toml())
    manager.app.book.alarms.record("TEST", "It stands in memory.")
    await asyncio.sleep(wait_s)
    manager.kill()
    manager.restart()
    assert manager.difference() == ""
    alarms = manager.app.book.alarms.newest(1)
    await manager.close()
    return alarms[0].code if alarms else ""


def test_a_step_that_was_not_committed_yet_goes_with_the_power() -> None:
    assert run_virtual(newest_after(COMMIT_MS / 2000)) == ""


def test_a_step_that_was_committed_stays() -> None:
    assert run_virtual(newest_after(COMMIT_MS / 500)) == "TEST"
