"""How many connections the link holds at once, and how many of them still owe their first message.

Only a number of newcomers may wait at a time, and none for long, so that peers who connect and say
nothing use up neither memory nor the places of units that are already served. Whoever is one too
many is told so. Which connection belongs to which unit is not known here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.version import LINK_DOWN_MS

_log = logging.getLogger(__name__)

CONNECTIONS_MAX = 2000  # units per manager, as docs/protocol.md says
NEWCOMERS_MAX = 64
HELLO_MAX_MS = LINK_DOWN_MS


class OneTooMany(ProtocolError):  # noqa: N818
    """This connection is not taken; the sentence is for its peer."""


class Admission:
    def __init__(self) -> None:
        self._count = 0
        self._hellos: set[asyncio.Timeout] = set()
        self._leaving = False
        self._empty = asyncio.Event()
        self._empty.set()
        self.turned_away_count = 0

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Counts a connection for as long as it lasts, or refuses it."""
        self._refuse_one_too_many()
        self._count += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._count -= 1
            if self._count == 0:
                self._empty.set()

    @asynccontextmanager
    async def newcomer(self) -> AsyncIterator[None]:
        """The time in which the first message must have arrived, whole."""
        async with asyncio.timeout(HELLO_MAX_MS / 1000) as hello:
            self._hellos.add(hello)
            try:
                yield
            finally:
                self._hellos.discard(hello)

    async def leave(self) -> None:
        """Lets no one in any more, waits for no hello, and returns when everyone has left."""
        self._leaving = True
        for hello in self._hellos:
            hello.reschedule(asyncio.get_running_loop().time())
        await self._empty.wait()

    def _refuse_one_too_many(self) -> None:
        if self._leaving:
            raise OneTooMany(ErrorCode.INTERNAL, "The manager is stopping.")
        if self._count >= CONNECTIONS_MAX:
            raise self._too_many(f"{CONNECTIONS_MAX} connections are open; no more are taken.")
        if len(self._hellos) >= NEWCOMERS_MAX:
            raise self._too_many(
                f"{NEWCOMERS_MAX} connections have not said yet who they are; try again."
            )

    def _too_many(self, sentence: str) -> OneTooMany:
        self.turned_away_count += 1
        if self.turned_away_count & (self.turned_away_count - 1) == 0:  # 1, 2, 4, 8 …
            _log.warning(
                "A connection is turned away (%d so far): %s", self.turned_away_count, sentence
            )
        return OneTooMany(ErrorCode.RATE, sentence)
