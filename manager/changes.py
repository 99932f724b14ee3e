"""A version number that pages and tests can wait on.

It counts changes worth showing; what changed is read from the ledger, not from here.
"""

from __future__ import annotations

import asyncio


class Changes:
    def __init__(self) -> None:
        self.version = 0
        self._changed = asyncio.Event()

    def bump(self) -> None:
        """Something changed: everyone who waits looks again."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self, after_version: int) -> int:
        """Returns the version as soon as it is later than `after_version`."""
        while self.version <= after_version:
            await self._changed.wait()
        return self.version
