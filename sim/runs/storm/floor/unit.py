"""A unit that can lose its power between any two instructions of its program.

It adds to the simulated unit a disk that needs time, and a death that takes effect at once: from
that instant nothing it still tries reaches the felt, the disk or the wire.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import apsw

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from hal.backend import Backend
from hal.worker import Worker
from sim.floor.unit import SimUnit
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.runs.storm.floor.slow_disk import Pace, SlowDisk

Request = Callable[[], Coroutine[Any, Any, object]]


class _StormBackend(SimBackend):
    def __init__(self, world: World, disks: dict[str, SlowDisk]) -> None:
        super().__init__(world)
        self._disks = disks

    def disk_worker(self, name: str = "disk") -> Worker:
        return self._disks[name]


class StormUnit(SimUnit):
    def __init__(self, *values: Any, disk_chance: random.Random, **named: Any) -> None:
        super().__init__(*values, **named)
        self._disk_chance = disk_chance
        self.pace = Pace()
        self._workers = self._new_workers()
        self._burial: asyncio.Task[None] | None = None
        self.fallen: list[BaseException] = []  # what the program let fall before it ended

    @property
    def alive(self) -> bool:
        """Power is on and the program runs."""
        return self.controller is not None and self._burial is None

    @property
    def untold_since_s(self) -> float | None:
        """Since when the disk holds what the program has not heard of yet."""
        return self._workers["disk"].untold_since_s

    def all_failures(self) -> list[BaseException]:
        """What the program let fall while it had power, before every cut and now."""
        return self.fallen + (self.failures() if self.alive else [])

    def die(self) -> None:
        """The power goes now. The world and the disk have lost it already, or lose it here."""
        if not self.alive:
            return
        self.fallen += self.failures()
        for worker in self._workers.values():
            worker.die()
        self._world.cut_power()
        self._at_power_cut()
        for task in self._tasks:
            task.cancel()
        self._burial = asyncio.create_task(self._end(), name="burial")

    async def serve(self, request: Request, patience_s: float) -> None:
        """What a person asks of the program; nobody waits for ever, and it dies with the power."""
        task = asyncio.create_task(_forget_answer(request), name="request")
        self._tasks = [each for each in self._tasks if not _went_well(each)]
        self._tasks.append(task)
        await asyncio.wait([task], timeout=patience_s)

    async def boot(self, opened: Callable[[apsw.Connection], None]) -> bool:
        """Power again. False when it went once more before the program could start.

        `opened` is shown the journal's database before the program writes to it.
        """
        if self._burial is not None:
            await self._burial
            self._burial = None
        self._workers = self._new_workers()
        self._set_booting(True)
        try:
            await self.power_on()
        except (JournalFault, apsw.Error):
            self._world.cut_power()
            raise
        self._set_booting(False)
        assert self.journal is not None
        opened(connection_of(self.journal))
        return True

    async def close(self) -> None:
        if self.alive:
            self.fallen += self.failures()
        await super().close()

    async def bury(self) -> None:
        if self._burial is not None:
            await self._burial
            self._burial = None

    def _open_backend(self) -> Backend:
        return _StormBackend(self._world, self._workers)

    def _set_booting(self, is_booting: bool) -> None:
        for worker in self._workers.values():
            worker.is_booting = is_booting

    def _new_workers(self) -> dict[str, SlowDisk]:
        """A thread for the bets and one for the evidence, as on a unit."""
        return {name: SlowDisk(self._disk_chance, self.pace) for name in ("disk", "evidence")}


async def _forget_answer(request: Request) -> None:
    await request()


def _went_well(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is None)


def connection_of(journal: Journal) -> apsw.Connection:
    """The journal's own connection: the file is locked for everyone else, the checkers included."""
    return journal._disk.connection  # noqa: SLF001
