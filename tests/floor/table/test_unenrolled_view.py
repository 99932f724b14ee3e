"""A unit that nobody has enrolled shows the same pages, so its view has every part they draw."""

from __future__ import annotations

from pathlib import Path

from controller.link.identity import UnitIdentity
from controller.unenrolled import UnenrolledTable
from sim.floor.floor import Floor
from sim.time.loop import run_virtual


def test_an_unenrolled_units_view_has_every_part_of_a_tables(tmp_path: Path) -> None:
    """Catches: a part that the pages draw and only an enrolled unit has, which ends in a 500."""

    async def play() -> None:
        floor = Floor(seed=1)
        try:
            table = await floor.open_table("four-card-touch")
            controller = table.unit.controller
            assert controller is not None
            unenrolled = UnenrolledTable(table.config, UnitIdentity(tmp_path))
            assert unenrolled.view().keys() == controller.pages.view().keys()
        finally:
            await floor.close()

    run_virtual(play())
