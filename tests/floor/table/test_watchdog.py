"""The watchdog is fed while everything critical makes progress, and not a moment longer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from controller import __main__ as program
from controller import systemd
from controller.unit import Unit
from hal import aio
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual

FEEDS = 5


def feeds_after(
    monkeypatch: pytest.MonkeyPatch, break_it: Callable[[Unit, FloorTable], None]
) -> tuple[int, int]:
    """How often systemd is told of progress in ten seconds: before, and after something broke."""
    fed: list[str] = []
    monkeypatch.setattr(systemd, "watchdog", fed.append)
    monkeypatch.setattr(systemd, "ready", lambda _status: None)

    async def run() -> tuple[int, int]:
        floor = Floor(1)
        table = await floor.open_table("four-card-touch")
        controller = table.unit.controller
        assert controller is not None
        await aio.sleep_ms(1000)
        feeding = asyncio.create_task(program._feed_watchdog(controller))
        await aio.sleep_ms(9_990)
        before = len(fed)
        break_it(controller, table)
        await aio.sleep_ms(10_000)
        fed.clear()
        await aio.sleep_ms(10_000)
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        await floor.close()
        return before, len(fed)

    return run_virtual(run())


def test_a_healthy_unit_feeds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert feeds_after(monkeypatch, lambda _c, _t: None) == (FEEDS, FEEDS)


@pytest.mark.parametrize("name", ["lamps", "sense-1", "spots", "link", "pulse"])
def test_a_critical_task_that_hangs_starves_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def hang(controller: Unit, _table: FloorTable) -> None:
        beat = controller.tasks.beat
        controller.tasks.beat = lambda who: None if who == name else beat(who)  # type: ignore[method-assign]

    assert feeds_after(monkeypatch, hang) == (FEEDS, 0)


def test_a_critical_task_that_dies_starves_it_and_shows_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states: list[str] = []

    def kill(controller: Unit, _table: FloorTable) -> None:
        controller.tasks._tasks["spots"].cancel()
        controller.tasks._ended("spots", True, _finished_with(ValueError("broken")))
        states.append(controller.state())

    assert feeds_after(monkeypatch, kill) == (FEEDS, 0)
    assert states == ["fault"]


def test_a_disk_that_takes_no_jobs_starves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(controller: Unit, _table: FloorTable) -> None:
        async def never(_job: object) -> None:
            await aio.Event().wait()

        controller.hardware.disk.run = never  # type: ignore[method-assign,assignment]

    assert feeds_after(monkeypatch, hang) == (FEEDS, 0)


def _finished_with(error: Exception) -> asyncio.Task[None]:
    class Finished:
        def cancelled(self) -> bool:
            return False

        def exception(self) -> Exception:
            return error

    return Finished()  # type: ignore[return-value]
