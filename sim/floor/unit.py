"""A table unit in the simulated world: the shipped unit, brought to life by power.

It alone knows what a power cut does to the program: every task ends where it stands and nothing is
said to anyone. The world (chips on the felt, key, cards) and the disk outlive it.
"""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from controller.config import UnitConfig
from controller.felt.calibration import BAD, CHIP_STEP, calibrate, measure_empty
from controller.felt.references import FeltReferences
from controller.felt.table_felt import TableFelt
from controller.journal.journal import Journal
from controller.lights.lamp_player import LampPlayer
from controller.link.call_order import Connect
from controller.service.live.around import ServicePlace
from controller.service.program_check import ProgramCheck
from controller.service.program_log import UpdatePlace
from controller.stores import StoreOpeners
from controller.unit import FeltOpener, LampPlayerOpener, Unit, UnitPlace, open_unit
from hal import aio
from hal.backend import Backend
from hal.board.open import Board
from kit.clock import WallClock
from protocol.proof.seal import Sealer
from protocol.secrets.cards import card_key
from sim.floor.signing_keys import seeded_sealer
from sim.floor.world import World
from sim.hardware.backend import SimBackend

CHIPS_SETTLE_MS = 500
# A simulated unit has no computer below it, and is told nothing of the one that it runs on.
NO_MACHINE = Path("/nonexistent")

Companion = Callable[[Unit], Coroutine[Any, Any, None]]


# The same few test cards are swiped thousands of times; virtual time has no use for the wait.
STRETCH = functools.cache(card_key)


class SimUnit:
    def __init__(
        self,
        config: UnitConfig,
        world: World,
        stores: StoreOpeners,
        connect: Connect,
        wall_ms: WallClock,
        seed: int,
        at_power_cut: Callable[[], None] = lambda: None,
        companion: Companion | None = None,
    ) -> None:
        self.config = config  # of the next start
        self._world = world
        self.stores = stores
        self.connect = connect
        self.wall_ms = wall_ms
        self._seed = seed
        self._at_power_cut = at_power_cut
        self.companion = companion
        self.sealer: Sealer = seeded_sealer(config.board.serial, seed)
        self.references = FeltReferences()
        self.open_felt: FeltOpener = TableFelt
        self.play_lamps: LampPlayerOpener = LampPlayer
        self.open_backend: Callable[[World], Backend] = SimBackend
        self.program: ProgramCheck | None = None  # the release it pretends to run
        self.updates: UpdatePlace | None = None  # where it meets its updater, if it has one
        self.service = ServicePlace(root=NO_MACHINE)
        self.controller: Unit | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def powered(self) -> bool:
        return self.controller is not None

    @property
    def journal(self) -> Journal | None:
        """The journal of the program that runs."""
        return self.controller.hardware.stores.journal if self.controller else None

    def failures(self) -> list[BaseException]:
        """What the program let fall: exceptions that ended one of its tasks."""
        ended = [task for task in self._tasks if task.done() and not task.cancelled()]
        failures = [error for task in ended if (error := task.exception()) is not None]
        return failures + (self.controller.tasks.deaths if self.controller else [])

    async def calibrate(self, empty_only: bool = False) -> None:
        """What a tech does once, before the unit first opens: an empty felt, then chips on it.

        Where time is real and somebody waits, the empty felt alone will do, as for the tech.
        """
        board = Board.from_config(self.config.board, self._open_backend())
        try:
            if empty_only:
                self.references = FeltReferences(await measure_empty(board))
            else:
                self.references = await self._measure(board)
        finally:
            board.close()

    async def _measure(self, board: Board) -> FeltReferences:
        sensors = [place.id for place in board.sensors]

        async def do_step(step: str) -> None:
            if step == CHIP_STEP:
                for sensor in sensors:
                    self._world.place_chip(sensor)
                await aio.sleep_ms(CHIPS_SETTLE_MS)

        measured = await calibrate(board, do_step)
        for sensor in sensors:
            self._world.remove_chip(sensor)
        await aio.sleep_ms(CHIPS_SETTLE_MS)
        bad = [f"{spot.sensor}: {spot.sentence}" for spot in measured if spot.verdict == BAD]
        assert not bad, f"the simulated felt cannot be calibrated: {bad}"
        return FeltReferences(
            {spot.sensor: spot.reference for spot in measured},
            {spot.sensor: spot for spot in measured},
        )

    async def power_on(self) -> None:
        if self.powered:
            return
        self._world.restore_power()
        self.controller = await open_unit(
            UnitPlace(
                self.config,
                self._open_backend(),
                self.stores,
                self.references,
                self.connect,
                self.wall_ms,
                random.Random(self._seed),
                self.sealer,
                self.open_felt,
                self.play_lamps,
                STRETCH,
                self.service,
                self.program,
                self.updates,
            )
        )
        self._tasks = [asyncio.create_task(self.controller.run(), name="unit")]
        if self.companion:
            companion = self.companion(self.controller)
            self._tasks.append(asyncio.create_task(companion, name="companion"))

    async def power_cut(self) -> None:
        if not self.powered:
            return
        self._world.cut_power()
        self._at_power_cut()
        await self._end()

    async def close(self) -> None:
        """An orderly stop, as for an update."""
        if self.controller is not None:
            await self._end_tasks()
            await self.controller.close()
            self._forget()

    def _open_backend(self) -> Backend:
        return self.open_backend(self._world)

    async def _end(self) -> None:
        """The program is gone; of what it held, only what this process holds for it is let go."""
        assert self.controller is not None
        await self._end_tasks()
        hardware = self.controller.hardware
        hardware.board.close()
        hardware.stores.close()
        self._forget()

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _forget(self) -> None:
        self.controller = None
        self._tasks = []
