"""Tasks do not die unseen, and the watchdog hears of one that hangs."""

from __future__ import annotations

import pytest

from controller.tasks import PROGRESS_MAX_MS, UnitTasks
from hal import aio
from sim.time.loop import run_virtual


async def _forever() -> None:
    await aio.Event().wait()


async def _dies() -> None:
    await aio.sleep_ms(10)
    raise ValueError("broken")


async def _ends() -> None:
    await aio.sleep_ms(10)


def _deaths_of(*told: tuple[str, object, bool]) -> list[tuple[str, str]]:
    deaths: list[tuple[str, str]] = []

    async def play() -> None:
        tasks = UnitTasks(lambda name, error: deaths.append((name, str(error))))
        for name, coroutine, critical in told:
            tasks.start(name, coroutine, critical)  # type: ignore[arg-type]
        await aio.sleep_ms(100)
        await tasks.stop()

    run_virtual(play())
    return deaths


def test_a_critical_tasks_death_is_told_once_with_its_name() -> None:
    assert _deaths_of(("a", _dies(), True), ("b", _dies(), True)) == [("a", "broken")]


def test_a_task_that_ends_by_itself_is_a_death_too() -> None:
    assert _deaths_of(("a", _ends(), True)) == [("a", "ended without being asked to")]


def test_an_orderly_stop_is_no_death() -> None:
    assert _deaths_of(("a", _forever(), True)) == []


def test_ctrl_c_is_no_death_of_whatever_ran_just_then(caplog: pytest.LogCaptureFixture) -> None:
    """Catches: a traceback, and the unit's fault, where a storm is stopped."""
    deaths: list[str] = []

    async def stopped() -> None:
        raise KeyboardInterrupt

    async def play() -> None:
        tasks = UnitTasks(lambda name, error: deaths.append(name))
        tasks.start("sense-1", stopped())
        try:
            await aio.sleep_ms(100)
        finally:
            await aio.sleep_ms(0)

    with pytest.raises(KeyboardInterrupt):
        run_virtual(play())
    assert (deaths, caplog.text) == ([], "")


def test_a_task_that_may_die_does_not_stop_the_table() -> None:
    assert _deaths_of(("a", _dies(), False)) == []


def test_a_critical_task_without_progress_is_named() -> None:
    async def play() -> list[list[str]]:
        tasks = UnitTasks(lambda _name, _error: None)
        tasks.start("quick", _forever())
        tasks.start("stuck", _forever())
        tasks.start("idle", _forever(), critical=False)
        await aio.sleep_ms(PROGRESS_MAX_MS)
        tasks.beat("quick")
        early = tasks.stalled()
        await aio.sleep_ms(1)
        late = tasks.stalled()
        await tasks.stop()
        return [early, late]

    assert run_virtual(play()) == [[], ["stuck"]]
