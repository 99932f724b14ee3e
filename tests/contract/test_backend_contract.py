"""The backend contract over the simulator's backend, with each kind of adapter's errno numbers.

The checks themselves are in `backend_contract`; inside the guest they run over the real kernel.
"""

from __future__ import annotations

import tomllib

import pytest

from hal.board.config import parse_board
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.i2c import CP2112, PI_0_TO_4, PI_5, Adapter
from sim.time.loop import run_virtual
from tests.kit.places import TABLES

pytest.register_assert_rewrite("tests.contract.contract_bus", "tests.contract.contract_devices")

from tests.contract.backend_contract import CHECKS, Rig  # noqa: E402 - rewritten from here on


async def run_check(name: str, adapter: Adapter) -> None:
    table, check = CHECKS[name]
    text = (TABLES / f"{table}.toml").read_text(encoding="utf-8")
    world = World(parse_board(tomllib.loads(text)["board"]), adapter=adapter)
    world.start()
    try:
        await check(Rig(SimBackend(world), world.board, world, adapter))
    finally:
        await world.close()


@pytest.mark.parametrize("adapter", [PI_0_TO_4, PI_5, CP2112], ids=lambda adapter: adapter.name)
@pytest.mark.parametrize("name", CHECKS)
def test_the_simulators_backend(name: str, adapter: Adapter) -> None:
    run_virtual(run_check(name, adapter))
