"""A manager in a storm goes by the shipped clock: the machine's date may jump, its time goes on.

A storm's manager went by the date alone. After a jump back its time stood still for hours. Cards
that were refused too often then stayed refused, and a round that waited for one never ended.
"""

from __future__ import annotations

import pytest

from hal import aio
from manager.clock import BACK_MAX_MS
from sim.runs.storm.floor.clock import MachineClock
from sim.runs.storm.floor.process import StormProcess
from sim.time.loop import run_virtual

HOUR_MS = 3_600_000
LOCKOUT_MS = 60_000


def passed_ms(jump_ms: int, restarts: bool) -> int:
    """How far the manager's time has come, a lock-out after its machine's date jumped."""

    async def story() -> int:
        clock = MachineClock()
        process = StormProcess(1, clock)
        try:
            with process.app.store.transaction():
                process.app.book.alarms.record("CARD", "unknown", "table")
            process.app.store.commits.flush()
            begun_ms = process.app.store.now_ms
            clock.jump(jump_ms)
            if restarts:
                process.kill()
                process.restart()
            await aio.sleep_ms(LOCKOUT_MS)
            return process.app.store.now_ms - begun_ms
        finally:
            await process.close()

    return run_virtual(story())


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("jump_ms", [-HOUR_MS, HOUR_MS])
def test_its_time_goes_on_when_the_date_jumps(jump_ms: int, restarts: bool) -> None:
    """Mutation: the manager goes by the machine's date."""
    if restarts and jump_ms > 0:  # a house may have been closed so long: the date is believed
        assert passed_ms(jump_ms, restarts) == LOCKOUT_MS + jump_ms
    else:
        assert passed_ms(jump_ms, restarts) == LOCKOUT_MS


def test_a_start_a_little_behind_waits_for_its_last_commit() -> None:
    assert passed_ms(-BACK_MAX_MS // 2, restarts=True) == LOCKOUT_MS - BACK_MAX_MS // 2
