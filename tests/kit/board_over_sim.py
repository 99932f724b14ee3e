"""A shipped board, opened with the shipped drivers over the simulated world of its table."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from hal.board.config import BoardConfig, parse_board
from hal.board.open import Board
from hal.devices.capacitive import CapacitiveSensor, ElectrodeReading
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.i2c import PI_0_TO_4, Adapter
from sim.hardware.ics.mpr121 import IrqRule
from sim.time.loop import run_virtual
from tests.kit.places import TABLES

T = TypeVar("T")


def board_config(table: str) -> BoardConfig:
    text = (TABLES / f"{table}.toml").read_text(encoding="utf-8")
    return parse_board(tomllib.loads(text)["board"])


@asynccontextmanager
async def opened(
    table: str = "four-card-touch",
    irq_rule: IrqRule = IrqRule.STATUS_READ,
    adapter: Adapter = PI_0_TO_4,
) -> AsyncIterator[tuple[World, Board]]:
    world = World(board_config(table), irq_rule=irq_rule, adapter=adapter)
    world.start()
    board = Board.from_config(world.board, SimBackend(world))
    try:
        yield world, board
    finally:
        board.close()
        await world.close()


def on_table(test: Callable[[World, Board], Awaitable[T]], **options: object) -> T:
    async def main() -> T:
        async with opened(**options) as (world, board):  # type: ignore[arg-type]
            return await test(world, board)

    return run_virtual(main())


async def started(board: Board) -> tuple[CapacitiveSensor, list[int]]:
    """The sensing IC, running on references measured with an empty felt."""
    ic = board.ics["sense-1"]
    references = await ic.measure()
    await ic.start(references)
    return ic, references


def faults_of(readings: list[ElectrodeReading]) -> set[str | None]:
    return {reading.fault for reading in readings}
