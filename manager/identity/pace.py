"""How often someone may do something: a few at once, then so many a second.

Token buckets by name, bounded in number: the one that was quiet longest is forgotten first.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from protocol.stream import Reader

NAMES_MAX = 1024
# A unit that drains a backlog sends a few hundred frames a second; each frame is two reads.
READS_BURST = 8_000
READS_PER_S = 4_000.0


class Bucket:
    def __init__(self, burst: float, per_s: float, now_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._level = float(burst)
        self._at_s = now_s

    def take(self, now_s: float) -> bool:
        """True when one more is allowed now."""
        if self.wait_s(now_s) > 0:
            return False
        self.spend()
        return True

    def spend(self) -> None:
        self._level -= 1

    def wait_s(self, now_s: float) -> float:
        """How long until one more is allowed."""
        passed_s, self._at_s = max(0.0, now_s - self._at_s), now_s
        self._level = min(self._burst, self._level + passed_s * self._per_s)
        return max(0.0, (1 - self._level) / self._per_s)


class Pacer:
    def __init__(self, burst: int, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, name: str, now_s: float) -> bool:
        bucket = self._buckets.pop(name, None) or Bucket(self._burst, self._per_s, now_s)
        self._buckets[name] = bucket
        if len(self._buckets) > NAMES_MAX:
            self._buckets.popitem(last=False)
        return bucket.take(now_s)


class PacedReader:
    """A reader that first gives back what was read already, and never reads faster than its pace.

    A peer that sends more waits, by TCP's own means; nothing of it is held here.
    """

    def __init__(self, reader: Reader, first: bytes = b"") -> None:
        self._reader = reader
        self._first = first
        self._bucket = Bucket(READS_BURST, READS_PER_S, asyncio.get_running_loop().time())

    async def readexactly(self, n: int, /) -> bytes:
        if self._first:
            part, self._first = self._first[:n], self._first[n:]
            return part
        wait_s = self._bucket.wait_s(asyncio.get_running_loop().time())
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        self._bucket.spend()
        return await self._reader.readexactly(n)
