"""A version number that grows with every change of the view, and a way to wait for it."""

from __future__ import annotations

from hal import aio


class ViewNews:
    def __init__(self) -> None:
        self.version = 1
        self._grew = aio.Event()

    def tell(self) -> None:
        self.version += 1
        # Everyone who waits holds this event; the next ones wait for a new one.
        self._grew.set()
        self._grew = aio.Event()

    async def changed(self, after: int) -> int:
        while self.version <= after:
            await self._grew.wait()
        return self.version
