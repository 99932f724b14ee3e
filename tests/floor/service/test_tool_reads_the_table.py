"""What the technician's tool makes of a real table's views: the two ends agree on their shapes."""

from __future__ import annotations

from deploy.tech.commands.watch import COLUMNS, sensor_cells, state_text
from deploy.tech.visit import why_not
from hal import aio
from sim.time.loop import run_virtual
from tests.kit.service_table import open_table, service_of


async def watched_with_a_loose_pad() -> tuple[str, list[list[str]], str]:
    async with open_table() as (_floor, table):
        table.world.faults.break_electrode("3A")
        await aio.sleep_ms(2000)
        service = service_of(table)
        view = service.view()
        rows = [[str(cell) for cell in sensor_cells(row)] for row in service.frame()["s"]]
        return str(state_text(view)), rows, why_not(view, "selftest")


def test_the_screen_shows_the_table_as_it_is() -> None:
    state, rows, reason = run_virtual(watched_with_a_loose_pad())
    assert state.splitlines()[0].startswith("Four Card Poker 7  open")
    assert "FAULT  Spot 3A: out of range." in state.splitlines()
    assert "{" not in state, "a record is shown as it lies in memory"
    assert all(len(row) == len(COLUMNS) - 1 for row in rows)
    assert rows[2][3] == "fault"
    assert rows[0][3:5] == ["absent", "empty: empty felt"]
    assert reason.startswith("Four Card Poker 7 is open for play")
