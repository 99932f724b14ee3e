"""Frames over an asyncio stream, or over anything that reads and writes like one.

A clean end between frames is an end; an end inside a frame, or a length over the limit, is an
error after which the stream stays refused, because no later byte could be trusted. Time-outs,
heartbeats and reconnecting belong to whoever owns the connection.
"""

from __future__ import annotations

from asyncio import IncompleteReadError
from collections.abc import Sequence
from typing import Protocol

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.framing import HEADER_BYTES, frame, payload_length


class Reader(Protocol):
    """The part of asyncio.StreamReader that is used."""

    async def readexactly(self, n: int, /) -> bytes: ...


class Writer(Protocol):
    """The part of asyncio.StreamWriter that is used."""

    def write(self, data: bytes, /) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


class FrameStream:
    """One connection's frames. One task reads; any task may write."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer
        # Kept between calls, so that a read cancelled by a time-out does not lose its place.
        self._length_bytes: int | None = None
        self._broken: ProtocolError | None = None

    async def read(self) -> bytes | None:
        """The next payload, or None when the peer ended the stream between two frames."""
        if self._broken is not None:
            raise self._broken
        try:
            return await self._read_frame()
        except ProtocolError as error:
            self._broken = error
            raise

    async def _read_frame(self) -> bytes | None:
        if self._length_bytes is None:
            header = await self._read_header()
            if header is None:
                return None
            self._length_bytes = payload_length(header)
        try:
            payload = await self._reader.readexactly(self._length_bytes)
        except IncompleteReadError as error:
            raise _cut_off(len(error.partial), self._length_bytes) from error
        self._length_bytes = None
        return payload

    async def _read_header(self) -> bytes | None:
        try:
            return await self._reader.readexactly(HEADER_BYTES)
        except IncompleteReadError as error:
            if not error.partial:
                return None
            raise _cut_off(len(error.partial), HEADER_BYTES) from error

    async def write(self, payload: bytes) -> None:
        """Sends one frame; returns when the transport is ready for more."""
        self._writer.write(frame(payload))
        await self._writer.drain()

    def write_frames(self, frames: Sequence[bytes]) -> None:
        """Sends frames in one go. Who writes on without `drain` has to bound what is written."""
        self._writer.write(b"".join(frames))

    async def drain(self) -> None:
        """Returns when the transport is ready for more."""
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()

    async def wait_closed(self) -> None:
        await self._writer.wait_closed()


def _cut_off(read_bytes: int, wanted_bytes: int) -> ProtocolError:
    return ProtocolError(
        ErrorCode.CUT_OFF,
        f"The stream ended inside a frame, after {read_bytes} of {wanted_bytes} bytes.",
    )
