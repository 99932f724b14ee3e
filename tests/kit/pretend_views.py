"""One view that a test changes: changing it wakes whoever waits, as the real ones do."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

View = dict[str, Any]


class Fake:
    """One view with a version."""

    def __init__(self, view: View) -> None:
        self._view = dict(view)  # it may be shared by many
        self.version = 1
        self._woken: list[asyncio.Future[None]] = []

    def view(self) -> View:
        return deepcopy(self._view)

    def change(self, **fields: Any) -> None:
        self._view.update(deepcopy(fields))
        self.version += 1
        woken, self._woken = self._woken, []
        for future in woken:
            if not future.done():
                future.set_result(None)

    async def changed(self, after: int) -> int:
        while self.version <= after:
            future = asyncio.get_running_loop().create_future()
            self._woken.append(future)
            await future
        return self.version
