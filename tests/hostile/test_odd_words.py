"""Words nobody expected, in the unit's own records: clipped and kept, never an exception."""

from __future__ import annotations

import pytest

from controller.table.faults import FaultBoard
from hal import aio
from protocol.wire.events import Fault
from sim.floor.floor import Floor
from sim.time.loop import run_virtual

ODD_BUTTONS = [
    "\u00e9" * 64,
    "\ud800",
    "\x00",
    "SEAT 1\n",
    "HAND \u2028",
    "HAND " + "x" * 5000,
    "SEAT \u00b2",
    "",
    "START x",
]


def test_a_press_of_anything_is_refused_with_a_sentence_and_recorded() -> None:
    async def main() -> None:
        floor = Floor(seed=1)
        table = await floor.open_table("four-card-touch")
        await aio.sleep_ms(2000)
        controller = table.unit.controller
        assert controller is not None
        for count, button in enumerate(ODD_BUTTONS, start=1):
            answer = await controller.pages.press(button)
            assert not answer.accepted
            assert answer.sentence
            assert controller.news.refusal_count == count
        assert floor.product_errors() == []
        await floor.close()

    run_virtual(main())


@pytest.mark.parametrize(
    "part",
    ["sense-1", "x" * 64, "\u00e9" * 40, "\x07"],
    ids=["plain", "long", "long in bytes", "control"],
)
def test_a_fault_of_a_part_with_any_name_is_told_and_cleared(part: str) -> None:
    told: list[Fault] = []
    board = FaultBoard(told.append)
    board.raise_("bus", part, "\x1b[31m" + "It does not answer. " * 40)
    board.clear("bus", part)
    assert [fault.raised for fault in told] == [True, False]
    assert all(len(fault.part.encode()) <= 32 for fault in told)
