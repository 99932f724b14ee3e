"""A version number that grows with every change worth showing, and a way to wait for it.

What changed is not told: whoever waits reads the view anew.
"""

from __future__ import annotations

import asyncio


class VersionSignal:
    def __init__(self) -> None:
        self.version = 1
        self._grew = asyncio.Event()

    def bump(self) -> None:
        self.version += 1
        # Everyone who waits holds this event; the next ones wait for a new one.
        self._grew.set()
        self._grew = asyncio.Event()

    async def changed(self, after: int) -> int:
        """Returns the version as soon as it is later than `after`."""
        while self.version <= after:
            await self._grew.wait()
        return self.version
