"""Lets a unit speak on the link only under the name, and with a certificate, that still count.

After the handshake it compares the certificate with the manager's list, then the first message with
the certificate; while the connection lasts it asks again whenever the list has changed. What an
accepted unit then says is the server's business.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from manager.identity.registry import Registry
from manager.identity.store import IdentityStore
from manager.link.paced_reader import PacedReader
from protocol.secrets import tls
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import clipped
from protocol.wire.framing import frame
from protocol.wire.messages import Error, Hello, error_for, hello_in
from protocol.wire.stream import FrameStream, Reader, Writer
from protocol.wire.version import ALPN, LINK_DOWN_MS

_log = logging.getLogger(__name__)

Serve = Callable[[Reader, Writer, int, Hello], Awaitable[None]]
FAREWELL_MAX_S = 1.0


class Peer(NamedTuple):
    """Who completed the handshake, by the certificate alone."""

    name: str
    fingerprint: str


class UnitGate:
    def __init__(self, store: IdentityStore, serve: Serve, noted: Callable[[], None]) -> None:
        """`noted` is told after each note that was written into the list's log."""
        self._store = store
        self._noted = noted
        self._registry = Registry(store)
        self._serve = serve
        self._open: dict[int, tuple[Peer, Writer]] = {}
        self._next_key = 0

    async def serve_tls(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, arrival: int
    ) -> None:
        connection = writer.get_extra_info("ssl_object")
        tls.check_alpn(connection, ALPN)
        peer = Peer(tls.peer_name(connection), tls.peer_fingerprint(connection))
        await self.serve(reader, writer, peer, arrival)

    def is_good(self, connection: ssl.SSLObject) -> bool:
        """True for a certificate on the list that still counts."""
        try:
            peer = Peer(tls.peer_name(connection), tls.peer_fingerprint(connection))
        except tls.TlsRefused:
            return False
        return not self._why_refused(peer)

    async def serve(self, reader: Reader, writer: Writer, peer: Peer, arrival: int) -> None:
        """Serves one unit that has proven to hold a certificate of this floor's CA."""
        refusal = self._why_refused(peer)
        if refusal:
            await self._turn_away(writer, peer, refusal)
            return
        paced = PacedReader(reader)
        try:
            hello = await _hello(FrameStream(paced, writer), peer)
        except ProtocolError as problem:
            _log.warning("%s did not begin with a hello: %s", peer.name, problem.sentence)
            await _say_farewell(writer, error_for(problem))
            return
        # Asked again: the list may have changed while the unit was silent.
        refusal = _wrong_name(hello, peer) or self._why_refused(peer)
        if refusal:
            await self._turn_away(writer, peer, refusal)
            return
        self._registry.note_use(peer.fingerprint)
        self._noted()
        key = self._next_key = self._next_key + 1
        self._open[key] = (peer, writer)
        try:
            await self._serve(paced, writer, arrival, hello)
        finally:
            self._open.pop(key, None)

    def ask_again(self) -> None:
        """The list has changed: whoever no longer counts is cut off now."""
        for key, (peer, writer) in list(self._open.items()):
            refusal = self._why_refused(peer)
            if refusal:
                del self._open[key]
                _log.warning("cut off: %s", refusal)
                writer.write(frame(_farewell(refusal).encode()))
                writer.close()
                asyncio.get_running_loop().call_later(FAREWELL_MAX_S, _abort, writer)

    def _why_refused(self, peer: Peer) -> str:
        return self._registry.why_refused(peer.fingerprint, peer.name)

    async def _turn_away(self, writer: Writer, peer: Peer, refusal: str) -> None:
        _log.warning("refused: %s", refusal)
        self._note_once(peer, refusal)
        await _say_farewell(writer, _farewell(refusal))

    def _note_once(self, peer: Peer, refusal: str) -> None:
        """A unit that keeps knocking fills no list."""
        newest = self._store.row(
            "SELECT sentence FROM log WHERE unit_id = ? ORDER BY number DESC LIMIT 1", (peer.name,)
        )
        if newest != (refusal,):
            self._store.note("IDENTITY_REFUSED", refusal, peer.name)
            self._noted()


async def _hello(stream: FrameStream, peer: Peer) -> Hello:
    async with asyncio.timeout(LINK_DOWN_MS / 1000):
        payload = await stream.read()
    if payload is None:
        raise ConnectionResetError(f"{peer.name} left before it said who it is.")
    return hello_in(payload)


def _wrong_name(hello: Hello, peer: Peer) -> str:
    if hello.unit_id == peer.name:
        return ""
    return f"The unit with the certificate of {peer.name} says it is {hello.unit_id}."


async def _say_farewell(writer: Writer, message: Error) -> None:
    async with asyncio.timeout(FAREWELL_MAX_S):
        writer.write(frame(message.encode()))
        await writer.drain()


def _abort(writer: Writer) -> None:
    """A peer that does not read would otherwise keep its connection open by not taking the end."""
    transport = getattr(writer, "transport", None)
    if transport is not None:
        transport.abort()


def _farewell(sentence: str) -> Error:
    return Error(ErrorCode.UNKNOWN_UNIT, clipped(sentence))
