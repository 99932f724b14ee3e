"""A cable between two serial ports, as between a unit and a laptop.

Each end is a pseudo-terminal that real pyserial opens. A noisy cable changes bytes, and adds some
that nobody sent, by chance from a seed.
"""

from __future__ import annotations

import asyncio
import os
import random
import tty
from typing import Final

CHUNK_BYTES: Final = 1024
PER: Final = 10_000


class NullModem:
    def __init__(self, draw: random.Random, noise: int = 0) -> None:
        """`noise` is how many of ten thousand bytes are damaged."""
        self._draw = draw
        self._noise = noise
        self._ends = [os.openpty(), os.openpty()]
        for master, end in self._ends:
            tty.setraw(end)
            os.set_blocking(master, False)
        self.unit_end, self.laptop_end = (os.ttyname(end) for _, end in self._ends)

    async def pump(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        (one, _), (other, _) = self._ends
        loop.add_reader(one, self._carry, one, other)
        loop.add_reader(other, self._carry, other, one)
        try:
            await asyncio.Event().wait()
        finally:
            loop.remove_reader(one)
            loop.remove_reader(other)

    def _carry(self, start: int, end: int) -> None:
        try:
            data = os.read(start, CHUNK_BYTES)
            os.write(end, self._damaged(data))
        except (BlockingIOError, OSError):
            return  # a line without flow control loses what nobody takes

    def _damaged(self, data: bytes) -> bytes:
        if not self._noise:
            return data
        heard = bytearray()
        for byte in data:
            if self._draw.randrange(PER) < self._noise:
                heard += self._draw.randbytes(self._draw.randrange(3))
            else:
                heard.append(byte)
        return bytes(heard)

    def close(self) -> None:
        for ends in self._ends:
            for end in ends:
                os.close(end)
