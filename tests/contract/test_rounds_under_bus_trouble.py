"""A locked round on the shipped boards while the bus fails in every way it can.

Whatever happens on the wires, the accepted set, the round and the money stay; the dealer's panel
answers at once, because nothing of a press waits for the bus; and the lights are what they were as
soon as the bus is free. Mutations these catch: a press that asks the bus first (it waits with it),
and a watch that ends with its first fault.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from hal.aio import sleep_ms
from sim.floor.floor import Floor, FloorTable
from sim.hardware.faults import TableFaults
from sim.time.loop import run_virtual

BUS = 1
ANSWER_MAX_MS = 5
BETS = ("2A", "5A")
TROUBLES: dict[str, tuple[str, Callable[[TableFaults], None]]] = {
    "sensing IC silent": ("nack", lambda faults: faults.nack("sense-1")),
    "lamp IC silent": ("nack", lambda faults: faults.nack("lights-1")),
    "arbitration lost": ("arbitration", lambda faults: faults.lose_arbitration(BUS, 200)),
    "reads cut short": ("short read", lambda faults: faults.short_read("sense-1", 200)),
    "blocked for a second": ("blocked", lambda faults: faults.block_bus(BUS, 1000, 3)),
    "data line held": ("stuck", lambda faults: faults.stick_bus(BUS)),
    "data line held, slow timeout": ("stuck", lambda faults: faults.stick_bus(BUS, 1000)),
}


async def lock_two_bets(table: FloorTable) -> None:
    for sensor in BETS:
        table.place(sensor)
    await sleep_ms(2000)
    await table.press("START")
    await sleep_ms(1500)
    assert [table.light(sensor) for sensor in BETS] == ["accepted", "accepted"]


async def press_through(table: FloorTable, duration_ms: int) -> None:
    """A dealer who keeps pressing: each press is answered at once."""
    for _ in range(duration_ms // 100):
        before, began_ns = table.answers()[0], table.world.now_ns()
        await table.press("SEAT 3")
        assert table.world.now_ns() - began_ns <= ANSWER_MAX_MS * 1_000_000
        assert table.answers()[0] == before + 1, "the panel said nothing"
        await sleep_ms(100)


async def play(table_name: str, trouble: str) -> None:
    kind, arm = TROUBLES[trouble]
    floor = Floor(1)
    table = await floor.open_table(table_name)
    try:
        await lock_two_bets(table)
        controller = table.unit.controller
        assert controller is not None
        before = copy.deepcopy(controller.keeper.state.durable_values())
        arm(table.world.faults)
        await press_through(table, 3000)
        assert table.world.faults.struck[kind] > 0, "the trouble was never met"
        assert controller.keeper.state.durable_values() == before
        table.world.faults.clear_bus(BUS)
        await sleep_ms(6000)
        assert controller.keeper.state.durable_values() == before
        lights = {place.id: table.light(place.id) for place in table.config.board.sensors}
        assert lights == {sensor: "accepted" if sensor in BETS else "off" for sensor in lights}
        assert table.wager_count() == len(BETS)
        await table.press("END")
        assert table.state() == "open"
        assert floor.product_errors() == []
    finally:
        await floor.close()


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("table_name", ["four-card-touch", "four-card-touch-fdc"])
def test_a_round_survives_and_the_panel_answers(table_name: str, trouble: str) -> None:
    run_virtual(play(table_name, trouble))
