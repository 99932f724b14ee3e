"""The Game Manager of a simulated floor: the shipped manager on a simulated disk.

It alone knows how the manager is put together for virtual time, and what a kill does to it: the
process is gone, and what its disk had not synced is kept, lost or torn.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from asyncio import StreamReader
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from manager.app import Manager
from manager.intake.seals import SealBook
from manager.ledger.engines.engine import StorageFailed
from protocol.proof.seal import Sealer
from sim.floor.fold_watch import FoldWatch, WatchedEngine
from sim.floor.late_writer import LateWriter
from sim.storage.disk import SimDisk

LEDGER_FILE = "ledger.sqlite"


class SimManager:
    def __init__(
        self,
        seed: int,
        now_ms: Callable[[], int],
        commit_ms: Callable[[], float] | None = None,
    ) -> None:
        """`commit_ms` says how long each commit takes beside the loop; without it, no time."""
        self._now_ms = now_ms
        self._commit_ms = commit_ms
        self._chance = random.Random(seed)
        self.disk = SimDisk(seed)
        self.running = True
        self._arrival_count = 0
        self._fold = FoldWatch()
        self.app = self._start()

    def open_table(self, text: str) -> str:
        """A table of this floor. Its people may deal at any pace: virtual time has no hours."""
        table_id, tables = self.app.open_table(text), self.app.book.tables
        authority = replace(tables.authority_of(table_id), rounds_per_hour_max=0)
        tables.keep_authority(table_id, authority)
        self.app.store.commits.flush()
        return table_id

    def enrol(self, sealer: Sealer) -> None:
        """What is left of an enrolment where there is no TLS: the unit's public key is known."""
        SealBook(self.app.store).register(sealer.unit_id, sealer.public_key)

    async def serve(self, reader: StreamReader, writer: Any) -> None:
        self._arrival_count += 1
        await self.app.server.serve_stream(reader, writer, self._arrival_count)

    def difference(self) -> str:
        """Where its books differ from their log, "" when nowhere."""
        return self._fold.difference(self.app.store) if self.running else ""

    @property
    def found_difference(self) -> str:
        """What a look after one of its commits has found, "" when nothing."""
        return self._fold.found

    def kill(self) -> None:
        """Nothing more is written from this instant on; the network is told by its owner."""
        self.running = False
        self.disk.cut_power()

    def restart(self) -> None:
        """A new process on the same disk. Raises when the disk cannot be used."""
        assert not self.running
        self._let_go()
        self.disk.restore()
        self.app = self._start()
        self.running = True

    async def close(self) -> None:
        if self.running:
            await self.app.close()
        else:
            self._let_go()
        self.disk.close()

    def _let_go(self) -> None:
        # The dead process's handles went with it, so closing them can fail and means nothing.
        with contextlib.suppress(StorageFailed):
            self.app.store.close()

    def _start(self) -> Manager:
        app = Manager(
            LEDGER_FILE, self._now_ms, self.disk.vfs_name, random_bytes=self._chance.randbytes
        )
        commits: Any = app.store.commits
        commits._engine = WatchedEngine(app.store, self._fold)  # noqa: SLF001
        if self._commit_ms is not None:
            loop = asyncio.get_running_loop()
            app.store.commits.beside(LateWriter(loop, self._commit_ms), app.server.halt)
        return app
