"""A storm that ends while a copied disk is being dealt with asks only for what could be seen."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from manager.ledger.engines.engine import StorageFailed
from manager.ledger.store.entries import EventSource
from sim.runs.storm import marks
from sim.runs.storm.final import heal
from sim.runs.storm.floor.clones import Clone
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.loop import StormLoop
from sim.runs.storm.record import Record
from sim.runs.storm.run import _close

# The copy is calibrated for about 6.4 s, empty and with chips, and then has power.
INSTALLING_S, RUNNING_S = 0.035, 8.0


def on_a_floor(story: Callable[[StormFloor], Awaitable[None]]) -> None:
    """Plays a story on the floor of a storm in which nothing else goes wrong."""

    async def play() -> None:
        floor = StormFloor(1, "clones", Record())
        try:
            await floor.open()
            await story(floor)
        finally:
            await floor.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert [task.get_name() for task in left] == []

    loop = StormLoop()
    try:
        loop.run_until_complete(play())
    finally:
        _close(loop)


async def copied(floor: StormFloor, ends_after_s: float) -> Clone:
    """A unit is back at work and its copy follows; the storm ends so long after that."""
    [original] = floor.tables
    original.cut_power()
    clone = Clone(floor, original, random.Random(1))
    floor.clones.append(clone)
    await original.power_on()
    copying = asyncio.create_task(clone.power_on())
    await asyncio.sleep(ends_after_s)
    copying.cancel()
    await asyncio.gather(copying, return_exceptions=True)
    return clone


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - virtual time
        await asyncio.sleep(0.01)


def test_a_copy_that_never_had_power_need_not_be_caught() -> None:
    """Seed 77071, ten tables: the storm ended 35 ms after a tech had begun to install the copy."""

    async def story(floor: StormFloor) -> None:
        clone = await copied(floor, INSTALLING_S)
        assert not clone.table.unit.alive
        await heal(floor)
        assert floor.record.violations == []
        # Nor does it excuse anything that the original does.
        assert not clone.original.manager._is_copied(clone.original.unit_id)

    on_a_floor(story)


def test_a_copy_that_runs_is_caught_after_the_storm() -> None:
    async def story(floor: StormFloor) -> None:
        clone = await copied(floor, RUNNING_S)
        assert clone.table.unit.alive
        await heal(floor)
        assert floor.record.violations == []
        assert floor.record.marks.fired[marks.FORK_CAUGHT] == 1

    on_a_floor(story)


@pytest.mark.parametrize("turns", range(6))
def test_a_copy_is_gone_whenever_the_storm_ends_while_it_is_taken_away(turns: int) -> None:
    async def story(floor: StormFloor) -> None:
        clone = await copied(floor, RUNNING_S)
        taking = asyncio.create_task(clone.take_away())
        for _ in range(turns):
            await asyncio.sleep(0)
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)

    on_a_floor(story)


def test_a_copy_that_runs_and_is_never_caught_breaks_a_promise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(floor: StormFloor) -> None:
        await copied(floor, RUNNING_S)
        await heal(floor)
        assert [each.rule for each in floor.record.violations] == ["a copied disk is caught"]

    monkeypatch.setattr(Clone, "caught", False)
    on_a_floor(story)


def test_what_a_copy_let_fall_is_known_after_it_is_gone() -> None:
    async def falls() -> None:
        raise RuntimeError("it fell")

    async def story(floor: StormFloor) -> None:
        clone = await copied(floor, RUNNING_S)
        await clone.table.unit.serve(falls, patience_s=1.0)
        await clone.take_away()
        [(where, error)] = floor.product_errors()
        assert (where, str(error)) == (clone.table.name, "it fell")

    on_a_floor(story)


def test_an_original_that_was_being_released_at_the_end_need_not_be_caught_again() -> None:
    """Seed 9850478: commits were slow, and the release was durable only after the storm's end."""

    async def story(floor: StormFloor) -> None:
        clone = await copied(floor, RUNNING_S)
        await until(lambda: clone.caught)
        floor.managers[0].process.write_late(lambda: 250.0)
        resolving = asyncio.create_task(clone.resolve())
        await until(lambda: clone.is_let_go)
        resolving.cancel()
        await asyncio.gather(resolving, return_exceptions=True)
        await until(lambda: not clone.caught)
        await heal(floor)
        assert floor.record.violations == []
        assert floor.record.marks.fired[marks.FORK_CAUGHT] == 1

    on_a_floor(story)


def test_a_manager_whose_commit_failed_is_started_anew_at_the_storms_end() -> None:
    """Seed 9840174: the disk failed in an operator's act, and no event came before the end."""

    async def story(floor: StormFloor) -> None:
        [manager] = floor.managers
        manager.disk.failing.add("sync")
        with pytest.raises(StorageFailed):
            manager.process.app.book.alarms.record("TEST", "A test's alarm.", "", EventSource("x"))
        assert not manager.halted
        await heal(floor)
        assert manager.running
        assert not manager.must_start_anew

    on_a_floor(story)
