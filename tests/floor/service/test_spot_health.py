"""How the spots of a table fare reaches its manager with the heartbeat.

Mutations this catches: the summary is not told to the link, it is sent but not kept, a later
heartbeat without it clears it.
"""

from __future__ import annotations

from controller.evidence.health_store import Stretch
from hal import aio
from sim.time.loop import run_virtual
from tests.kit.service_table import open_table, unit_of

CHIPS = 9


def test_a_worn_spot_is_known_at_the_manager() -> None:
    async def main() -> None:
        async with open_table() as (_, table):
            unit = unit_of(table)
            worn = Stretch("3A", table.unit.wall_ms() - 1, 0.01, 0.0, 0.65, CHIPS, 0.01, 600, 0)
            unit.hardware.stores.health.keep([worn])
            await table.unit.close()
            await table.restore_power()
            await aio.sleep_ms(3000)
            row = table.manager.app.view.spots.rows()[0]
            assert (row["sensor"], row["verdict"], row["chip_percent"]) == ("3A", "replace", 65)
            assert row["why"].startswith("a chip reads 65%")

    run_virtual(main())
