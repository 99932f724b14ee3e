"""A TLS listener that one bad client cannot hold up: every handshake is counted, timed and limited.

It accepts, decides by address whether to begin a handshake at all, and hands over what completed
one. Who the peer is and what it may say is the handler's business.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from protocol import tls
from protocol.pace import Pacer

_log = logging.getLogger(__name__)

OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
RESOURCES_PAUSE_S = 1.0

# The last is the connection's place in the order of arrival, whatever it says when.
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]


@dataclass(frozen=True)
class Limits:
    """What one door lets in; a unit needs one connection and a new one now and then."""

    connections_max: int = 512
    handshakes_max: int = 32
    per_address_max: int = 8
    attempts_burst: int = 20
    attempts_per_s: float = 2.0
    handshake_max_s: float = tls.HANDSHAKE_MAX_S


class TlsDoor:
    def __init__(
        self, name: str, context: ssl.SSLContext, handler: Handler, limits: Limits
    ) -> None:
        self._name = name
        self._context = context
        self._handler = handler
        self._limits = limits
        self._by_address: Counter[str] = Counter()
        self._pacer = Pacer(limits.attempts_burst, limits.attempts_per_s)
        self._handshake_count = 0
        self._arrival_count = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.turned_away: Counter[str] = Counter()

    @property
    def connection_count(self) -> int:
        return len(self._tasks)

    async def run(self, listener: socket.socket) -> None:
        """Accepts until cancelled; then it is closed, and every connection it let in has ended."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    connection, address = await loop.sock_accept(listener)
                except OSError as error:
                    await self._note_accept_failure(error)
                    continue
                self._admit(connection, str(address[0]))
        finally:
            listener.close()
            await self._end_all()

    def _admit(self, connection: socket.socket, address: str) -> None:
        reason = self._why_not(address)
        if reason:
            self._turn_away(address, reason)
            connection.close()
            return
        self._by_address[address] += 1
        self._handshake_count += 1
        self._arrival_count += 1
        serving = self._serve(connection, address, self._arrival_count)
        task = asyncio.create_task(serving, name=f"{self._name} {address}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """One connection's trouble is told and ends with it; the others go on."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("%s: a connection failed", self._name, exc_info=error)

    def _why_not(self, address: str) -> str:
        """Why this address gets no handshake now, "" when it does. Costs next to nothing."""
        if len(self._tasks) >= self._limits.connections_max:
            return "there are too many connections"
        if self._by_address[address] >= self._limits.per_address_max:
            return "this address has too many connections"
        if self._handshake_count >= self._limits.handshakes_max:
            return "too many handshakes are under way"
        if not self._pacer.take(address, asyncio.get_running_loop().time()):
            return "this address tries too often"
        return ""

    def _turn_away(self, address: str, reason: str) -> None:
        self.turned_away[reason] += 1
        if self.turned_away[reason] & (self.turned_away[reason] - 1) == 0:  # 1, 2, 4, 8 …
            count = self.turned_away[reason]
            _log.warning(
                "%s: %s is turned away (%d so far): %s", self._name, address, count, reason
            )

    async def _serve(self, connection: socket.socket, address: str, arrival: int) -> None:
        try:
            streams = await self._shake_hands(connection, address)
            if streams is not None:
                await self._handle(*streams, address, arrival)
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    async def _shake_hands(
        self, connection: socket.socket, address: str
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=tls.READER_LIMIT_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            transport, _ = await loop.connect_accepted_socket(
                lambda: protocol,
                connection,
                ssl=self._context,
                ssl_handshake_timeout=self._limits.handshake_max_s,
                ssl_shutdown_timeout=tls.SHUTDOWN_MAX_S,
            )
        except ssl.SSLError as error:
            _log.warning(
                "%s: %s failed the handshake: %s", self._name, address, tls.in_words(error)
            )
            return None
        except OSError as error:
            _log.warning("%s: %s left during the handshake: %s", self._name, address, error)
            return None
        finally:
            self._handshake_count -= 1
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def _handle(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        address: str,
        arrival: int,
    ) -> None:
        try:
            await self._handler(reader, writer, arrival)
        except tls.TlsRefused as refusal:
            _log.warning("%s: %s is refused: %s", self._name, address, refusal)
        except OSError as error:
            _log.info("%s: the connection of %s ended: %s", self._name, address, error)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _note_accept_failure(self, error: OSError) -> None:
        if error.errno in OUT_OF_RESOURCES:
            _log.error("%s: no connection can be accepted now: %s", self._name, error)
            await asyncio.sleep(RESOURCES_PAUSE_S)

    async def _end_all(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
