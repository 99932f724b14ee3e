"""A bundle that somebody at the manager asked for: made between rounds, sent a few parts at a time.

The manager's heartbeat names what it wants and how much of it came. So a lost link, or a part that
was lost with it, needs nothing of its own: the next heartbeat asks for the rest. Events and
heartbeats never wait for it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from hal import aio
from protocol.wire.messages import BundlePart
from protocol.wire.rows import BUNDLE_BYTES_MAX, BUNDLE_PART_BYTES, BundleWish
from protocol.wire.stream import FrameStream

log = logging.getLogger("controller.link")

# The manager counts frames without a receipt, four a second; one of them is our heartbeat.
PARTS_PER_BEAT = 2

Make = Callable[[str], Awaitable[bytes]]


class BundleParts:
    """`make` and `is_between_rounds` are given when the unit is put together."""

    def __init__(self) -> None:
        self.make: Make | None = None
        self.is_between_rounds: Callable[[], bool] = lambda: False
        self._wish: BundleWish | None = None
        self._asked = aio.Event()
        self._made_for = 0
        self._content = b""

    def wanted(self, wishes: tuple[BundleWish, ...]) -> None:
        """What this heartbeat of the manager asks for; nothing, most of the time."""
        self._wish = wishes[0] if wishes else None
        if self._wish is None:
            self._made_for, self._content = 0, b""
        else:
            self._asked.set()

    async def send_forever(self, stream: FrameStream) -> None:
        while True:
            await self._asked.wait()
            self._asked.clear()
            wish = self._wish
            if wish is not None and await self._is_made(wish):
                for part in self._parts(wish):
                    await stream.write(part.encode())

    async def _is_made(self, wish: BundleWish) -> bool:
        """One bundle for each request, so that its parts fit together over several links."""
        if wish.request == self._made_for:
            return bool(self._content)
        if self.make is None or not self.is_between_rounds():
            return False  # the next heartbeat asks again
        content = await self.make(wish.asked_by)
        self._made_for = wish.request
        self._content = content if len(content) <= BUNDLE_BYTES_MAX else b""
        if not self._content:
            log.warning("the bundle has %d bytes, too many for the link", len(content))
        return bool(self._content)

    def _parts(self, wish: BundleWish) -> list[BundlePart]:
        total, parts = len(self._content), []
        for number in range(PARTS_PER_BEAT):
            place = wish.place + number * BUNDLE_PART_BYTES
            if place < total:
                content = self._content[place : place + BUNDLE_PART_BYTES]
                parts.append(BundlePart(wish.request, place, total, content))
        return parts
