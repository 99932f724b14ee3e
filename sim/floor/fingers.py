"""Fingers on the panel of a simulated touch table: presses that are under way at the same time.

It alone knows that a dark panel takes no presses, that a press not yet answered is lost with the
power, and that what a press let fall is a failure of the product.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any

Press = Callable[[str, Collection[str]], Coroutine[Any, Any, Any]]


class Fingers:
    def __init__(self) -> None:
        self._down: set[asyncio.Task[Any]] = set()
        self.errors: list[BaseException] = []

    def put_on(self, buttons: Sequence[str], press: Press) -> None:
        """All at the same instant, in the order given; the panel tells of each what lay beside."""
        for button in buttons:
            beside = [other for other in buttons if other != button]
            finger = asyncio.create_task(press(button, beside), name=f"press {button}")
            self._down.add(finger)
            finger.add_done_callback(self._lifted)

    async def answered(self) -> None:
        await asyncio.gather(*self._down)

    async def lift(self) -> None:
        fingers = list(self._down)
        for finger in fingers:
            finger.cancel()
        await asyncio.gather(*fingers, return_exceptions=True)

    def _lifted(self, finger: asyncio.Task[Any]) -> None:
        self._down.discard(finger)
        error = None if finger.cancelled() else finger.exception()
        if error is not None:
            self.errors.append(error)
