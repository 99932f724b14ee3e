"""An interrupt line that is held low: the bus is not flooded, the panel says so, bets are seen."""

from __future__ import annotations

from typing import Any

import pytest

from controller.felt.interrupt_line import FREE_MS, LOOKS_MAX, InterruptLine
from hal import aio
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual

HELD = "Sensing IC sense-1: its interrupt line is held low."
# Touch bits every 25 ms, each read three times while the line says that there is more, and the
# readings of an empty table; and ten frames of the light that fades where a chip lies.
TRANSFERS_PER_S_MAX = 150 + 10


class Line:
    active = False
    edge_count = 0


def test_a_line_without_edges_is_held_and_one_with_edges_calls() -> None:
    async def run() -> None:
        line: Any = Line()
        told: list[str] = []
        watched = InterruptLine(line, "sense-1", told.append)
        line.active = True
        for _ in range(10):
            line.edge_count += 1
            assert watched.is_usable()
        assert [watched.is_usable() for _ in range(LOOKS_MAX)] == [True] * (LOOKS_MAX - 1) + [False]
        assert len(told) == 1
        assert told[0].startswith(HELD)

    run_virtual(run())


def test_a_line_that_comes_and_goes_is_told_once() -> None:
    async def run() -> None:
        line: Any = Line()
        told: list[str] = []
        watched = InterruptLine(line, "sense-1", told.append)
        for _ in range(50):
            line.active = True
            for _ in range(LOOKS_MAX + 1):
                watched.is_usable()
            line.active = False
            line.edge_count += 2
            watched.is_usable()
            await aio.sleep_ms(FREE_MS // 2)
            assert not watched.is_usable()
        assert len(told) == 1
        await aio.sleep_ms(FREE_MS)
        assert watched.is_usable()
        assert told[1:] == [""]

    run_virtual(run())


def transfers_of(table: FloorTable) -> list[int]:
    """A count that grows with each transfer on the table's bus."""
    bus, count = table.world.buses[1], [0]
    look = bus.on_transfer

    def counted(*arguments: Any) -> Any:
        count[0] += 1
        return look(*arguments)

    bus.on_transfer = counted
    return count


def interrupt_faults(table: FloorTable) -> list[str]:
    controller = table.unit.controller
    assert controller is not None
    shown = controller.pages.view()["faults"]
    return [each["text"] for each in shown if each["code"] == "interrupt"]


@pytest.mark.parametrize("chip_lies", [False, True])
def test_a_grounded_line_floods_no_bus_and_is_shown_until_it_is_mended(chip_lies: bool) -> None:
    """Catches: a read at every turn of the loop for as long as the line is low."""

    async def run() -> None:
        floor = Floor(1)
        table = await floor.open_table("four-card-touch")
        if chip_lies:
            table.world.place_chip("5A")
        await aio.sleep_ms(3_000)
        assert interrupt_faults(table) == []
        table.world.faults.ground_interrupt("sense-1")
        count = transfers_of(table)
        await aio.sleep_ms(5_000)
        assert count[0] < 5 * TRANSFERS_PER_S_MAX
        (sentence,) = interrupt_faults(table)
        assert sentence.startswith(HELD)
        table.world.place_chip("2A")
        await aio.sleep_ms(100)
        assert await table.world.settled_light("2A") == "detected"
        await table.press("START")
        controller = table.unit.controller
        assert controller is not None
        assert controller.keeper.state.accepted == (["2A", "5A"] if chip_lies else ["2A"])
        table.world.faults.mend_interrupt("sense-1")
        await aio.sleep_ms(FREE_MS + 2_000)
        assert interrupt_faults(table) == []
        await floor.close()

    run_virtual(run())
