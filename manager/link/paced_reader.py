"""A connection that is read no faster than a unit ever sends."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from kit.rate_limit import Bucket
from protocol.wire.stream import Reader

# A unit that drains a backlog sends a few hundred frames a second; each frame is two reads.
READS_BURST = 8_000
READS_PER_S = 4_000.0
READS_AT_ONCE = 50  # granted together: hundreds of units read all day, and the clock costs


class PacedReader:
    """A reader that never reads faster than its pace.

    A peer that sends more waits, by TCP's own means; nothing of it is held here.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._bucket = Bucket(READS_BURST, READS_PER_S, asyncio.get_running_loop().time())
        self._granted = 0  # reads that the bucket was asked for already

    def readexactly(self, n: int, /) -> Coroutine[Any, Any, bytes]:
        if self._granted:
            self._granted -= 1
            return self._reader.readexactly(n)
        return self._read_when_due(n)

    async def _read_when_due(self, n: int) -> bytes:
        wait_s = self._bucket.wait_s(asyncio.get_running_loop().time())
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        self._bucket.spend(READS_AT_ONCE)
        self._granted = READS_AT_ONCE - 1
        return await self._reader.readexactly(n)
