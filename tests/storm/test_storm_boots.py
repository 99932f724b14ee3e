"""A power cut while a unit starts leaves no program that runs on without its disk.

Seed 9711192: the power went after the opening's last use of the disk and before the program ran.
Nobody took it for dark, so nobody switched it on again, and its table never came to rest.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sim.runs.storm.floor.table import StormTable
from sim.time.loop import run_virtual


def started(keeps_power: bool) -> tuple[list[str], bool]:
    """What was done at the start of a unit, and whether its table is dark after it."""
    done: list[str] = []

    async def story() -> bool:
        disk = SimpleNamespace(powered=True)

        async def boot(opened: Any) -> None:
            disk.powered = keeps_power
            opened(None)

        async def bury() -> None:
            done.append("buried")

        unit = SimpleNamespace(alive=False, boot=boot, bury=bury, die=lambda: done.append("died"))
        watch = SimpleNamespace(
            disturb=lambda: None, booted=lambda *_: done.append("booted"), felt_in_doubt=False
        )
        controls = SimpleNamespace(key_position="RUN")
        world = SimpleNamespace(has_chip=lambda _: False, controls=controls)
        table = SimpleNamespace(
            unit=unit, watch=watch, world=world, disk=disk, sensors=["1A"], _dark=asyncio.Event()
        )
        table._opened = lambda journal: StormTable._opened(cast(Any, table), journal)
        await StormTable.power_on(cast(Any, table))
        return table._dark.is_set()

    return done, run_virtual(story())


@pytest.mark.parametrize(
    ("keeps_power", "done", "is_dark"),
    [(True, ["buried", "booted"], False), (False, ["buried", "died"], True)],
)
def test_a_unit_whose_power_went_while_it_started_is_dark(
    keeps_power: bool, done: list[str], is_dark: bool
) -> None:
    assert started(keeps_power) == (done, is_dark)
