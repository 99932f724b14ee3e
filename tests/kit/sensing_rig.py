"""A table of five spots with the shipped driver and IC watch, on a physical felt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from controller.core.felt.spot import Spot
from controller.core.felt.surface import Surface
from controller.felt.ic_watch import IcWatch, WatchedIc
from hal.aio import sleep_ms, ticks_ms
from hal.board.open import Board
from hal.ics.kinds import MPR121
from sim.felt.physics.table import PhysicalTable
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.runs.sense.board import trial_board
from sim.runs.sense.calibrate import calibrate
from sim.runs.sense.cases import PADS
from sim.runs.sense.sensing_ic import ICS
from sim.time.loop import run_virtual


def good_table(seed: int, ic: str = MPR121) -> PhysicalTable:
    """The first table from this seed on that passes calibration."""
    while True:
        table = PhysicalTable(PADS, seed)
        if all(calibrate(table, pad, ICS[ic]).is_usable for pad in table.pads.values()):
            return table
        seed += 1


class Rig:
    """Spots by sensor, the world under them, and what was seen of them."""

    def __init__(self, world: World, board: Board, table: PhysicalTable, ic: str) -> None:
        self.world = world
        self.table = table
        self.ics = board.ics
        stored = {s: calibrate(table, pad, ICS[ic]) for s, pad in table.pads.items()}
        self.spots = {s: Spot(s, each.calibration) for s, each in stored.items()}
        self.surface = Surface()
        self.round_open = False
        self.seen: list[tuple[int, str, str]] = []
        self.watches = [
            IcWatch(
                WatchedIc(
                    name,
                    sensing_ic,
                    {each.electrode: self.spots[each.id] for each in world.board.sensors_on(name)},
                    [stored[each.id].reference for each in world.board.sensors_on(name)],
                ),
                self._note,
                lambda: None,
                self.surface,
                lambda: not self.round_open,
            )
            for name, sensing_ic in board.ics.items()
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
        """From where each sensing IC says it measures."""
        known = {}
        for name, sensing_ic in self.ics.items():
            readings = await sensing_ic.snapshot()
            for place in self.world.board.sensors_on(name):
                assert readings[place.electrode].fault is None
                known[place.id] = readings[place.electrode].reference
        return known

    async def seen_within(self, sensor: str, presence: str, limit_ms: int) -> bool:
        begin_ms = ticks_ms()
        while ticks_ms() - begin_ms <= limit_ms:
            if self.spots[sensor].presence == presence:
                return True
            await sleep_ms(1)  # in larger steps the limit would be one of theirs
        return False


@asynccontextmanager
async def rig(seed: int = 1, ic: str = MPR121) -> AsyncIterator[Rig]:
    table = good_table(seed, ic)
    world = World(trial_board(PADS, ic))
    world.lay_felt(table)
    world.start()
    board = Board.from_config(world.board, SimBackend(world))
    ready = Rig(world, board, table, ic)
    tasks = [asyncio.create_task(watch.run(), name=watch.name) for watch in ready.watches]
    try:
        yield ready
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        board.close()
        await world.close()


def on_rig(scene: Callable[[Rig], Awaitable[None]], seed: int = 1, ic: str = MPR121) -> None:
    async def whole() -> None:
        async with rig(seed, ic) as ready:
            await sleep_ms(1_000)
            await scene(ready)

    run_virtual(whole())
