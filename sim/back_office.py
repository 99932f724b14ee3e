"""The Game Manager of a simulated floor: the shipped manager on a simulated disk.

It alone knows how the manager is put together for virtual time, and what a kill does to it.
"""

from __future__ import annotations

import random
from asyncio import StreamReader
from collections.abc import Callable
from typing import Any

from manager.app import Manager
from sim.disk import SimDisk

LEDGER_FILE = "ledger.sqlite"


class BackOffice:
    def __init__(self, seed: int, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._chance = random.Random(seed)
        self.disk = SimDisk(seed)
        self.manager = self._start()

    async def serve(self, reader: StreamReader, writer: Any) -> None:
        await self.manager.server.serve_stream(reader, writer)

    async def close(self) -> None:
        await self.manager.close()
        self.disk.close()

    def _start(self) -> Manager:
        return Manager(
            LEDGER_FILE, self._now_ms, self.disk.vfs_name, random_bytes=self._chance.randbytes
        )
