"""A floor inside the guest: the shipped manager, and a table on the real kernel's devices.

It is `sim.floor.floor` with three things exchanged: the unit opens the shipped Raspberry Pi
backend, its journal is a file on the guest's disk, and its hardware lives in the emulator's
process. So the same scenarios play on both.
"""

from __future__ import annotations

import dataclasses
import random
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from controller import stores
from controller.config import UnitConfig
from controller.journal.journal import Journal
from hal.backend import Backend
from hal.worker import Worker
from sim.floor.floor import OPENING_WALL_MS, Floor, FloorTable, table_path
from sim.floor.manager import SimManager
from sim.floor.unit import SimUnit
from sim.floor.world import World
from sim.network.network import SimNetwork
from sim.runs.kernel.far_world import FarLine, FarWorld
from sim.runs.kernel.guest_table import guest_config


def guest_wall_ms() -> int:
    """The floor's date, from any thread: the guest's loop runs on the same clock."""
    return OPENING_WALL_MS + time.monotonic_ns() // 1_000_000


class _OneProcess:
    """The unit's backend, which remembers the disk workers it gave out."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._disk_workers: list[Worker] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def disk_worker(self, name: str = "disk") -> Worker:
        self._disk_workers.append(self._backend.disk_worker(name))
        return self._disk_workers[-1]

    def close_disk_workers(self) -> None:
        while self._disk_workers:
            self._disk_workers.pop().close()


class GuestUnit(SimUnit):
    """The unit with threads of its own, on one backend for its whole life: so is a process."""

    def __init__(self, backend: Backend, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._backend = _OneProcess(backend)

    def _open_backend(self) -> Backend:
        return cast(Backend, self._backend)

    async def calibrate(self, empty_only: bool = True) -> None:
        """Each reading takes its real time on the bridge's slow bus."""
        await super().calibrate(empty_only)

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        # A record on its way to the disk ends first: nobody may close the journal under it.
        self._backend.close_disk_workers()
        await super()._end_tasks()


class GuestTable(FloorTable):
    """A table whose hardware is far away, but under the same names."""

    def __init__(
        self,
        config: UnitConfig,
        manager: SimManager,
        network: SimNetwork,
        line: FarLine,
        backend: Backend,
        seed: int,
    ) -> None:
        super().__init__(config, manager, network, seed)
        self.world = cast(World, FarWorld(line, config.table_id, seed))
        self._ids = random.Random(seed)
        self._folder = tempfile.TemporaryDirectory(dir="/run")
        serial, folder = config.board.serial, Path(self._folder.name)
        in_folder = stores.in_folder(folder, serial, guest_wall_ms)
        self.unit = GuestUnit(
            backend,
            config,
            self.world,
            stores=dataclasses.replace(in_folder, journal=self._open_journal),
            connect=lambda _: network.connect(self.cable),
            wall_ms=guest_wall_ms,
            seed=seed,
            at_power_cut=lambda: network.sever(self.cable),
        )

    async def close(self) -> None:
        await super().close()
        self._folder.cleanup()

    def _open_journal(self) -> Journal:
        return Journal.open(
            str(Path(self._folder.name) / "journal.sqlite"),
            new_journal_id=self._ids.randbytes,
            created_wall_ms=guest_wall_ms(),
        )


class GuestFloor(Floor):
    def __init__(self, line: FarLine, backend: Backend, seed: int) -> None:
        super().__init__(seed)
        self._line = line
        self._backend = backend

    async def open_table(self, name: str) -> FloorTable:
        if self._tables:
            raise ValueError("The guest has the hardware of one table.")
        self._network.listen(self._serve)
        self._manager.open_table(table_path(name).read_text("utf-8"))
        table = GuestTable(
            guest_config(name), self._manager, self._network, self._line, self._backend, self._seed
        )
        self._tables.append(table)
        await table.open()
        return table
