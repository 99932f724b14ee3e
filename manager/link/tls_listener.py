"""A TLS listener that bad clients cannot hold up: every handshake is counted, timed and limited.

It accepts, decides by address whether to begin a handshake at all, and hands over what completed
one. When all handshakes are taken, the oldest of the busiest address gives way to an address that
has fewer, or that was good before; a handshake from a good address never does. Who the peer is and
what it may say is the handler's business.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kit.places import Place, gives_way
from kit.rate_limit import Pacer
from protocol.secrets import tls

_log = logging.getLogger(__name__)

OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
RESOURCES_PAUSE_S = 1.0

# The last is the connection's place in the order of arrival, whatever it says when.
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
IsGood = Callable[[ssl.SSLObject], bool]
# A floor of two thousand units; the address that was not used longest is forgotten first.
GOOD_ADDRESSES_MAX = 4096


@dataclass(frozen=True)
class Limits:
    """What one door lets in; a unit needs one connection and a new one now and then."""

    connections_max: int = 2064  # some more than units: who is one too many hears a sentence
    handshakes_max: int = 32
    per_address_max: int = 8
    attempts_burst: int = 20
    attempts_per_s: float = 2.0
    handshake_max_s: float = tls.HANDSHAKE_MAX_S


class _GoodAddresses:
    """From where a peer with a good certificate came last."""

    def __init__(self) -> None:
        self._newest_last: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, address: str) -> bool:
        return address in self._newest_last

    def add(self, address: str) -> None:
        self._newest_last[address] = None
        self._newest_last.move_to_end(address)
        if len(self._newest_last) > GOOD_ADDRESSES_MAX:
            self._newest_last.popitem(last=False)


def _nobody(peer: ssl.SSLObject) -> bool:
    return False


class TlsDoor:
    def __init__(
        self,
        name: str,
        context: ssl.SSLContext,
        handler: Handler,
        limits: Limits,
        is_good: IsGood = _nobody,
    ) -> None:
        """`is_good` judges the certificate of a peer that completed its handshake."""
        self._name = name
        self._context = context
        self._handler = handler
        self._limits = limits
        self._by_address: Counter[str] = Counter()
        self._pacer = Pacer(limits.attempts_burst, limits.attempts_per_s)
        self._is_good = is_good
        self._good = _GoodAddresses()
        self._handshakes: dict[int, tuple[str, socket.socket]] = {}
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
        self._arrival_count += 1
        self._handshakes[self._arrival_count] = (address, connection)
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
        if not self._pacer.take(address, asyncio.get_running_loop().time()):
            return "this address tries too often"
        if len(self._handshakes) >= self._limits.handshakes_max and not self._make_room(address):
            return "too many handshakes are under way"
        return ""

    def _make_room(self, address: str) -> bool:
        """Ends a handshake of an address that has more of them; False when nobody has to go."""
        counts = Counter(other for other, _ in self._handshakes.values())
        strangers = (
            Place(arrival, other)
            for arrival, (other, _) in self._handshakes.items()
            if other not in self._good
        )
        leaving = gives_way(strangers)
        if leaving is None:
            return False
        other, connection = self._handshakes[leaving]
        if address not in self._good and counts[other] <= counts[address] + 1:
            return False  # among equals, whoever came first stays
        del self._handshakes[leaving]
        self._turn_away(other, "another address needs its place")
        with contextlib.suppress(OSError):  # it has left by itself meanwhile
            connection.shutdown(socket.SHUT_RDWR)
        return True

    def _turn_away(self, address: str, reason: str) -> None:
        self.turned_away[reason] += 1
        if self.turned_away[reason] & (self.turned_away[reason] - 1) == 0:  # 1, 2, 4, 8 …
            count = self.turned_away[reason]
            _log.warning(
                "%s: %s is turned away (%d so far): %s", self._name, address, count, reason
            )

    async def _serve(self, connection: socket.socket, address: str, arrival: int) -> None:
        try:
            streams = await self._shake_hands(connection, address, arrival)
            if streams is not None:
                self._note_good(streams[1], address)
                await self._handle(*streams, address, arrival)
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def _note_good(self, writer: asyncio.StreamWriter, address: str) -> None:
        if self._is_good(writer.get_extra_info("ssl_object")):
            self._good.add(address)

    async def _shake_hands(
        self, connection: socket.socket, address: str, arrival: int
    ) -> Streams | None:
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
            if arrival in self._handshakes:  # not one that was just told to leave
                _log.warning("%s: %s left during the handshake: %s", self._name, address, error)
            return None
        finally:
            self._handshakes.pop(arrival, None)
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
