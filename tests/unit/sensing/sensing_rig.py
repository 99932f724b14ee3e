"""A table of five spots with the shipped driver and chip watch, on a physical felt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from controller.core.sensing import Spot
from controller.core.surface import Surface
from controller.sensors import ChipWatch
from hal.aio import sleep_ms, ticks_ms
from hal.board import Board
from hal.chip_kinds import MPR121
from sim.backend import SimBackend
from sim.loop import run_virtual
from sim.physics.table import PhysicalTable
from sim.sense.board import trial_board
from sim.sense.calibrate import calibrate
from sim.sense.cases import PADS
from sim.sense.sensing_chip import CHIPS
from sim.world import World


def good_table(seed: int, chip: str = MPR121) -> PhysicalTable:
    """The first table from this seed on that passes calibration."""
    while True:
        table = PhysicalTable(PADS, seed)
        if all(calibrate(table, pad, CHIPS[chip]).is_usable for pad in table.pads.values()):
            return table
        seed += 1


class Rig:
    """Spots by sensor, the world under them, and what was seen of them."""

    def __init__(self, world: World, board: Board, table: PhysicalTable, chip: str) -> None:
        self.world = world
        self.table = table
        self.chips = board.chips
        stored = {s: calibrate(table, pad, CHIPS[chip]) for s, pad in table.pads.items()}
        self.spots = {s: Spot(s, each.calibration) for s, each in stored.items()}
        self.surface = Surface()
        self.round_open = False
        self.seen: list[tuple[int, str, str]] = []
        self.watches = [
            ChipWatch(
                name,
                sensing_chip,
                {place.electrode: self.spots[place.id] for place in world.board.sensors_on(name)},
                [stored[place.id].reference for place in world.board.sensors_on(name)],
                self._note,
                lambda: None,
                self.surface,
                lambda: not self.round_open,
            )
            for name, sensing_chip in board.chips.items()
        ]

    def _note(self) -> None:
        for sensor, spot in self.spots.items():
            self.seen.append((ticks_ms(), sensor, spot.presence))

    async def verdicts(self) -> dict[str, int]:
        await asyncio.gather(*(watch.look_now() for watch in self.watches))
        return {sensor: spot.verdict_at_lock(ticks_ms()) for sensor, spot in self.spots.items()}

    async def verdict(self, sensor: str) -> int:
        return (await self.verdicts())[sensor]

    async def references(self) -> dict[str, int]:
        """From where each sensing chip says it measures."""
        known = {}
        for name, sensing_chip in self.chips.items():
            readings = await sensing_chip.snapshot()
            for place in self.world.board.sensors_on(name):
                assert readings[place.electrode].fault is None
                known[place.id] = readings[place.electrode].reference
        return known

    async def seen_within(self, sensor: str, presence: str, limit_ms: int) -> bool:
        begin_ms = ticks_ms()
        while ticks_ms() - begin_ms <= limit_ms:
            if self.spots[sensor].presence == presence:
                return True
            await sleep_ms(5)
        return False


@asynccontextmanager
async def rig(seed: int = 1, chip: str = MPR121) -> AsyncIterator[Rig]:
    table = good_table(seed, chip)
    world = World(trial_board(PADS, chip))
    world.lay_felt(table)
    world.start()
    board = Board.from_config(world.board, SimBackend(world))
    ready = Rig(world, board, table, chip)
    tasks = [asyncio.create_task(watch.run(), name=watch.name) for watch in ready.watches]
    try:
        yield ready
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        board.close()
        await world.close()


def on_rig(scene: Callable[[Rig], Awaitable[None]], seed: int = 1, chip: str = MPR121) -> None:
    async def whole() -> None:
        async with rig(seed, chip) as ready:
            await sleep_ms(1_000)
            await scene(ready)

    run_virtual(whole())
