"""Lets a unit speak on the link only under the name, and with a certificate, that still count.

After the handshake it compares the certificate with the manager's list, then the first message with
the certificate; while the connection lasts it asks again whenever the list has changed. What an
accepted unit then says is the server's business.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from manager.identity.paced_reader import PacedReader
from manager.identity.registry import Registry
from manager.identity.store import IdentityStore
from protocol import tls
from protocol.errors import ErrorCode, ProtocolError
from protocol.fields import clipped
from protocol.framing import HEADER_BYTES, frame, payload_length
from protocol.messages import Error, Hello, decode
from protocol.stream import Reader, Writer
from protocol.version import ALPN, LINK_DOWN_MS

_log = logging.getLogger(__name__)

Serve = Callable[[Reader, Writer, int], Awaitable[None]]
FAREWELL_MAX_S = 1.0


class Peer(NamedTuple):
    """Who completed the handshake, by the certificate alone."""

    name: str
    fingerprint: str


class UnitGate:
    def __init__(self, store: IdentityStore, serve: Serve) -> None:
        self._store = store
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

    async def serve(self, reader: Reader, writer: Writer, peer: Peer, arrival: int) -> None:
        """Serves one unit that has proven to hold a certificate of this floor's CA."""
        refusal = self._registry.why_refused(peer.fingerprint, peer.name)
        if not refusal:
            first, refusal = await self._first_frame(reader, peer)
            # Asked again: the list may have changed while the unit was silent.
            refusal = refusal or self._registry.why_refused(peer.fingerprint, peer.name)
        if refusal:
            await self._turn_away(writer, peer, refusal)
            return
        self._registry.note_use(peer.fingerprint)
        key = self._next_key = self._next_key + 1
        self._open[key] = (peer, writer)
        try:
            await self._serve(PacedReader(reader, first), writer, arrival)
        finally:
            self._open.pop(key, None)

    def ask_again(self) -> None:
        """The list has changed: whoever no longer counts is cut off now."""
        for key, (peer, writer) in list(self._open.items()):
            refusal = self._registry.why_refused(peer.fingerprint, peer.name)
            if refusal:
                del self._open[key]
                _log.warning("cut off: %s", refusal)
                writer.write(_farewell(refusal))
                writer.close()
                asyncio.get_running_loop().call_later(FAREWELL_MAX_S, _abort, writer)

    async def _first_frame(self, reader: Reader, peer: Peer) -> tuple[bytes, str]:
        """The first frame's bytes, to be read again, and why it is refused, "" if it is not."""
        try:
            async with asyncio.timeout(LINK_DOWN_MS / 1000):
                payload = await _read_frame(reader)
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError(f"{peer.name} left before it said who it is.") from error
        except ProtocolError as problem:
            return b"", f"{peer.name} did not begin with a hello: {problem.sentence}"
        try:
            hello = decode(payload)
        except ProtocolError:
            return frame(payload), ""  # the server answers what is no message at all
        if isinstance(hello, Hello) and hello.unit_id != peer.name:
            return b"", f"The unit with the certificate of {peer.name} says it is {hello.unit_id}."
        return frame(payload), ""

    async def _turn_away(self, writer: Writer, peer: Peer, refusal: str) -> None:
        _log.warning("refused: %s", refusal)
        self._note_once(peer, refusal)
        async with asyncio.timeout(FAREWELL_MAX_S):
            writer.write(_farewell(refusal))
            await writer.drain()

    def _note_once(self, peer: Peer, refusal: str) -> None:
        """A unit that keeps knocking fills no list."""
        newest = self._store.row(
            "SELECT sentence FROM log WHERE unit_id = ? ORDER BY number DESC LIMIT 1", (peer.name,)
        )
        if newest != (refusal,):
            self._store.note("IDENTITY_REFUSED", refusal, peer.name)


async def _read_frame(reader: Reader) -> bytes:
    return await reader.readexactly(payload_length(await reader.readexactly(HEADER_BYTES)))


def _abort(writer: Writer) -> None:
    """A peer that does not read would otherwise keep its connection open by not taking the end."""
    transport = getattr(writer, "transport", None)
    if transport is not None:
        transport.abort()


def _farewell(sentence: str) -> bytes:
    return frame(Error(ErrorCode.UNKNOWN_UNIT, clipped(sentence)).encode())
