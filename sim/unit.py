"""A table unit in the simulated world: the shipped controller, brought to life by power.

It alone knows what a power cut does to the program: every task ends where it stands and nothing is
said to anyone. The world (chips on the felt, key, cards) and the disk outlive it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Coroutine
from typing import Any

import apsw

from controller.app import Controller
from controller.black_box import BlackBox, TraceStore
from controller.calibration import measure_empty
from controller.config import UnitConfig
from controller.felt_memory import FeltStore
from controller.journal import Journal
from controller.journal_file import JournalFault
from controller.link import Connect
from hal.backend import Backend
from hal.board import Board
from hal.clock import WallClock
from protocol.seal import Sealer
from sim.backend import SimBackend
from sim.identity import seeded_sealer
from sim.world import World

Companion = Callable[[Controller], Coroutine[Any, Any, None]]


class SimUnit:
    def __init__(
        self,
        config: UnitConfig,
        world: World,
        open_journal: Callable[[], Journal],
        connect: Connect,
        wall_ms: WallClock,
        seed: int,
        at_power_cut: Callable[[], None] = lambda: None,
        companion: Companion | None = None,
        sealer: Sealer | None = None,
        open_traces: Callable[[], TraceStore] | None = None,
        open_felt: Callable[[], FeltStore] | None = None,
    ) -> None:
        self._config = config
        self._world = world
        self._open_journal = open_journal
        self._connect = connect
        self._wall_ms = wall_ms
        self._seed = seed
        self._at_power_cut = at_power_cut
        self._companion = companion
        self.sealer = sealer or seeded_sealer(config.board.serial, seed)
        self._open_traces = open_traces
        self._traces: TraceStore | None = None
        self._open_felt = open_felt
        self._felt_store: FeltStore | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._board: Board | None = None
        self._journal: Journal | None = None
        self.references: dict[str, int] = {}
        self.references_fault = ""  # why there are none
        self.controller: Controller | None = None

    @property
    def powered(self) -> bool:
        return self.controller is not None

    def failures(self) -> list[BaseException]:
        """What the program let fall: exceptions that ended one of its tasks."""
        ended = [task for task in self._tasks if task.done() and not task.cancelled()]
        failures = [error for task in ended if (error := task.exception()) is not None]
        return failures + (self.controller.crew.deaths if self.controller else [])

    async def calibrate(self) -> None:
        """What a tech does once, on an empty felt, before the unit first opens."""
        board = Board.from_config(self._config.board, self._open_backend())
        try:
            self.references = await measure_empty(board)
        finally:
            board.close()

    async def power_on(self) -> None:
        if self.powered:
            return
        self._world.restore_power()
        backend = self._open_backend()
        self._board = Board.from_config(self._config.board, backend)
        self._journal = self._open_journal()
        disk = backend.disk_worker()
        black_box = None
        if self._open_traces:
            self._traces = self._open_traces()
            black_box = BlackBox(self._traces, disk, self.references, self._config)
        if self._open_felt:
            self._felt_store = self._open_felt()
        self.controller = Controller(
            self._config,
            self._board,
            self._journal,
            disk,
            self.references,
            self._connect,
            self._wall_ms,
            random.Random(self._seed),
            self.sealer,
            black_box,
            references_fault=self.references_fault,
            felt_store=self._felt_store,
        )
        self._tasks = [asyncio.create_task(self.controller.run(), name="controller")]
        if self._companion:
            companion = self._companion(self.controller)
            self._tasks.append(asyncio.create_task(companion, name="companion"))

    async def power_cut(self) -> None:
        if not self.powered:
            return
        self._world.cut_power()
        self._at_power_cut()
        await self._end()

    async def close(self) -> None:
        """An orderly stop, as for an update."""
        if self.powered:
            await self._end()

    def _open_backend(self) -> Backend:
        return SimBackend(self._world)

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        assert self._board is not None
        assert self._journal is not None
        self._board.close()
        # When the disk lost power with the rest, there is nothing left to close.
        with contextlib.suppress(JournalFault):
            self._journal.close()
        if self._traces:
            self._traces.close()
            self._traces = None
        if self._felt_store:
            with contextlib.suppress(apsw.Error):
                self._felt_store.close()
            self._felt_store = None
        self.controller = self._board = self._journal = None
        self._tasks = []
