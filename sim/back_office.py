"""The Game Manager of a simulated floor: the shipped manager on a simulated disk.

It alone knows how the manager is put together for virtual time, and what a kill does to it: the
process is gone, and what its disk had not synced is kept, lost or torn.
"""

from __future__ import annotations

import contextlib
import random
from asyncio import StreamReader
from collections.abc import Callable
from typing import Any

import apsw

from manager.app import Manager
from manager.identity.seal_book import SealBook
from protocol.seal import Sealer
from sim.disk import SimDisk

LEDGER_FILE = "ledger.sqlite"


class BackOffice:
    def __init__(self, seed: int, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._chance = random.Random(seed)
        self.disk = SimDisk(seed)
        self.running = True
        self._arrival_count = 0
        self.manager = self._start()

    def enrol(self, sealer: Sealer) -> None:
        """What is left of an enrolment where there is no TLS: the unit's public key is known."""
        SealBook(self.manager.store).register(sealer.unit_id, sealer.public_key)

    async def serve(self, reader: StreamReader, writer: Any) -> None:
        self._arrival_count += 1
        await self.manager.server.serve_stream(reader, writer, self._arrival_count)

    def kill(self) -> None:
        """Nothing more is written from this instant on; the network is told by its owner."""
        self.running = False
        self.disk.cut_power()

    def restart(self) -> None:
        """A new process on the same disk. Raises when the disk cannot be used."""
        assert not self.running
        self._let_go()
        self.disk.restore()
        self.manager = self._start()
        self.running = True

    async def close(self) -> None:
        if self.running:
            await self.manager.close()
        else:
            self._let_go()
        self.disk.close()

    def _let_go(self) -> None:
        # The dead process's handles went with it, so closing them can fail and means nothing.
        with contextlib.suppress(apsw.Error):
            self.manager.store.close()

    def _start(self) -> Manager:
        return Manager(
            LEDGER_FILE, self._now_ms, self.disk.vfs_name, random_bytes=self._chance.randbytes
        )
