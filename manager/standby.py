"""A manager that stands by: it says who serves each table, and waits for its turn.

A unit that knocks here is sent to the owner. The ledger is never written. It ends when the
lease is there to be taken; taking it is the caller's business.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from manager.control import Request
from manager.identity.folder import IdentityFolder
from manager.identity_place import identities_of
from manager.ledger.engines.postgres_lease import KnownManager, LeaseLine, Standing
from manager.ledger.errors import LedgerError, StoreError
from manager.link.gate import FAREWELL_MAX_S, UnitGate
from manager.link.tls_listener import Limits, TlsDoor
from protocol.secrets import tls
from protocol.wire.errors import ErrorCode
from protocol.wire.fields import clipped
from protocol.wire.messages import Error, GoTo, Hello, Message
from protocol.wire.stream import FrameStream, Reader, Writer

_log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.2
ANNOUNCE_EVERY_S = 1.0
NOBODY = "No manager owns this table's ledger at this moment; try again."


@dataclass(frozen=True)
class Post:
    """What a manager is called, and where units and browsers reach it."""

    name: str
    link: str
    web: str


class LeaseLook:
    """Looks at the lease again and again, and says meanwhile that this manager is there."""

    def __init__(self, url: str, schema: str, post: Post, is_serving: bool) -> None:
        self._lease_line = LeaseLine(url, schema)
        self._post = post
        self._is_serving = is_serving
        self.standing: Standing | None = None  # None: the database does not answer

    @property
    def server(self) -> KnownManager | None:
        """Who owns the ledger and has its doors open, as far as the last look goes."""
        return self.standing.server if self.standing is not None else None

    async def once(self, announce: bool) -> None:
        try:
            self.standing = await asyncio.to_thread(self._look, announce)
        except StoreError as error:
            if self.standing is not None:
                _log.warning("%s", error)
            self.standing = None

    async def announce_forever(self) -> None:
        while True:
            await self.once(announce=True)
            await asyncio.sleep(ANNOUNCE_EVERY_S)

    def close(self) -> None:
        self._lease_line.close()

    def _look(self, announce: bool) -> Standing:
        if announce:
            post = self._post
            self._lease_line.announce(post.name, post.link, post.web, self._is_serving)
        return self._lease_line.look()


class StandBy:
    def __init__(self, data: Path, look: LeaseLook, name: str, now_ms: Callable[[], int]) -> None:
        tls.limit_tls_buffers()
        self._look = look
        self._name = name
        folder = IdentityFolder(data)
        folder.ensure()
        self.fingerprint = folder.ca_fingerprint()
        self._store = identities_of(data, folder, now_ms)
        # What happens here becomes an alarm when this manager owns the ledger.
        self._gate = UnitGate(self._store, self._send_on, lambda: None)
        context = tls.manager_context(folder.manager, folder.manager_key, folder.ca)
        self.door = TlsDoor("link", context, self._gate.serve_tls, Limits(), self._gate.is_good)

    async def until_free(self) -> None:
        """Returns when the lease may be taken by this manager."""
        turns = round(ANNOUNCE_EVERY_S / LOOK_EVERY_S)
        count = 0
        while True:
            await self._look.once(announce=count % turns == 0)
            standing = self._look.standing
            if standing is not None and standing.is_free_for(self._name):
                return
            count += 1
            await asyncio.sleep(LOOK_EVERY_S)

    async def point_the_way(self, listener: socket.socket) -> None:
        await self.door.run(listener)

    async def refuse(self, request: Request) -> str:
        """What an operator asks of a manager that only stands by."""
        owner = self._look.standing.owner if self._look.standing else None
        where = f"{owner.name} at {owner.link}" if owner else "nobody at this moment"
        raise LedgerError(f"This manager stands by. The ledger is owned by {where}: ask there.")

    def close(self) -> None:
        self._store.close()

    async def _send_on(self, reader: Reader, writer: Writer, arrival: int, hello: Hello) -> None:
        async with asyncio.timeout(FAREWELL_MAX_S):
            await FrameStream(reader, writer).write(self._answer().encode())

    def _answer(self) -> Message:
        owner = self._look.server
        if owner is None or owner.name == self._name:
            return Error(ErrorCode.INTERNAL, NOBODY)
        return GoTo(owner.link, clipped(f"The manager {owner.name} serves this table."))
