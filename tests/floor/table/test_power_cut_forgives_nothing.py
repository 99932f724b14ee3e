"""A power cut forgives nothing, however much else the journal has recorded since."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from protocol.wire import events
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual

# More than anybody would have looked back over one by one.
NOISE_RECORDS = 300


def play(table_name: str, scene: Callable[[FloorTable], Awaitable[None]]) -> None:
    async def run() -> None:
        floor = Floor(1)
        table = await floor.open_table(table_name)
        await asyncio.sleep(2)
        await scene(table)
        await floor.close()

    run_virtual(run())


async def record_many(table: FloorTable, body: events.EventBody) -> None:
    for _ in range(NOISE_RECORDS):
        await table.unit.controller.keeper.record(body)


async def lose_power(table: FloorTable) -> None:
    await table.cut_power()
    await table.restore_power()
    await asyncio.sleep(3)


def sentences(table: FloorTable) -> list[str]:
    return [fault.sentence for fault in table.unit.controller.table.faults.all()]


def test_an_opened_cabinet_is_remembered_behind_many_other_faults() -> None:
    async def scene(table: FloorTable) -> None:
        table.world.controls.tamper(open=True)
        await asyncio.sleep(1)
        table.world.controls.tamper(open=False)
        await asyncio.sleep(1)
        await record_many(table, events.Fault("bus", "sense-1", True, "noise of this test"))
        await lose_power(table)
        assert any("A supervisor releases the table" in each for each in sentences(table))

    play("four-card-keypad", scene)


def test_a_lock_out_is_remembered_behind_many_other_refusals() -> None:
    async def scene(table: FloorTable) -> None:
        await table.press("TRAIN")  # a card is judged only when something waits for one
        for _ in range(5):
            table.swipe("UNKNOWN")
            await asyncio.sleep(1)
        assert any("Too many wrong cards" in each for each in sentences(table))
        await record_many(table, events.Refused("START", "noise of this test"))
        await lose_power(table)
        assert any("Too many wrong cards" in each for each in sentences(table))
        await asyncio.sleep(600)
        await lose_power(table)
        assert not sentences(table), "its time has passed, also for one who looks back"

    play("four-card-touch", scene)
