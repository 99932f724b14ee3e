"""A floor inside the guest: the shipped manager, and a table on the real kernel's devices.

It is `sim.floor` with three things exchanged: the unit opens the shipped Raspberry Pi backend, its
journal is a file on the guest's disk, and its hardware lives in the emulator's process. So the same
scenarios play on both.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any, cast

from controller.config import UnitConfig
from controller.journal import Journal
from hal.backend import Backend
from hal.worker import Worker
from sim.back_office import BackOffice
from sim.floor import OPENING_WALL_MS, Floor, FloorTable, table_path
from sim.kernel.far_world import FarLine, FarWorld
from sim.kernel.guest_table import guest_config
from sim.network import SimNetwork
from sim.unit import SimUnit
from sim.world import World


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

    def disk_worker(self) -> Worker:
        self._disk_workers.append(self._backend.disk_worker())
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

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        # A record on its way to the disk ends first: nobody may close the journal under it.
        self._backend.close_disk_workers()
        await super()._end()


class GuestTable(FloorTable):
    """A table whose hardware is far away, but under the same names."""

    def __init__(
        self,
        config: UnitConfig,
        office: BackOffice,
        network: SimNetwork,
        line: FarLine,
        backend: Backend,
        seed: int,
    ) -> None:
        super().__init__(config, office, network, seed)
        self.world = cast(World, FarWorld(line, config.table_id, seed))
        self._folder = tempfile.TemporaryDirectory(dir="/run")
        self.unit = GuestUnit(
            backend,
            config,
            self.world,
            open_journal=self._open_journal,
            connect=lambda: network.connect(self.cable),
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
            new_journal_id=self._journal_ids.randbytes,
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
        self._office.manager.open_table(table_path(name).read_text("utf-8"))
        table = GuestTable(
            guest_config(name), self._office, self._network, self._line, self._backend, self._seed
        )
        self._tables.append(table)
        await table.open()
        return table
