"""Frames on a stream: limits before reading, clean and unclean ends, time-outs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.framing import frame
from protocol.wire.stream import FrameStream
from sim.time.loop import run_virtual


class RecordingWriter:
    """A writer that keeps what was written, one entry per call."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.drained = 0
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    async def drain(self) -> None:
        self.drained += 1

    def close(self) -> None:
        self.closed = True

    async def wait_closed(self) -> None:
        assert self.closed


class CountingReader:
    """An asyncio reader that also says how much it was asked for."""

    def __init__(self, data: bytes, end: bool = True) -> None:
        self._reader = asyncio.StreamReader()
        self._reader.feed_data(data)
        if end:
            self._reader.feed_eof()
        self.asked: list[int] = []

    async def readexactly(self, n: int) -> bytes:
        self.asked.append(n)
        return await self._reader.readexactly(n)

    def feed(self, data: bytes) -> None:
        self._reader.feed_data(data)


def read_all(data: bytes) -> list[bytes | None]:
    async def reading() -> list[bytes | None]:
        stream = FrameStream(CountingReader(data), RecordingWriter())
        payloads: list[bytes | None] = []
        while not payloads or payloads[-1] is not None:
            payloads.append(await stream.read())
        return payloads

    return run_virtual(reading())


def test_frames_then_a_clean_end() -> None:
    assert read_all(frame(b"one") + frame(b"x" * 4096)) == [b"one", b"x" * 4096, None]


def test_an_end_before_any_frame_is_clean() -> None:
    assert read_all(b"") == [None]


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 6])
def test_an_end_inside_a_frame_is_an_error(cut: int) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_all(frame(b"one") + frame(b"two")[:cut])
    assert caught.value.code == ErrorCode.CUT_OFF


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("00001001", ErrorCode.OVERSIZED),
        ("ffffffff", ErrorCode.OVERSIZED),
        ("16030100", ErrorCode.OVERSIZED),  # the start of a TLS handshake on a plain port
        ("00000000", ErrorCode.MALFORMED),
    ],
)
def test_a_bad_length_is_refused_before_the_body_is_read(header: str, code: ErrorCode) -> None:
    async def reading() -> Sequence[int]:
        reader = CountingReader(bytes.fromhex(header) + b"x" * 5000)
        stream = FrameStream(reader, RecordingWriter())
        for _ in range(2):  # and the stream stays refused
            with pytest.raises(ProtocolError) as caught:
                await stream.read()
            assert caught.value.code == code
        return reader.asked

    assert run_virtual(reading()) == [4]


def test_a_read_that_timed_out_inside_a_frame_keeps_its_place() -> None:
    async def reading() -> bytes | None:
        reader = CountingReader(frame(b"payload")[:6], end=False)
        stream = FrameStream(reader, RecordingWriter())
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(stream.read(), 5)
        reader.feed(frame(b"payload")[6:])
        return await stream.read()

    assert run_virtual(reading()) == b"payload"


def test_write_sends_one_whole_frame_and_waits_for_room() -> None:
    async def writing() -> RecordingWriter:
        writer = RecordingWriter()
        stream = FrameStream(CountingReader(b""), writer)
        await stream.write(b"one")
        stream.close()
        await stream.wait_closed()
        return writer

    writer = run_virtual(writing())
    assert writer.written == [b"\0\0\0\3one"]
    assert writer.drained == 1


@pytest.mark.parametrize("payload", [b"", b"x" * 4097])
def test_what_no_peer_would_read_is_not_written(payload: bytes) -> None:
    async def writing() -> list[bytes]:
        writer = RecordingWriter()
        with pytest.raises(ProtocolError):
            await FrameStream(CountingReader(b""), writer).write(payload)
        return writer.written

    assert run_virtual(writing()) == []


def test_whoever_waits_for_the_end_of_a_stream_waits_for_its_line() -> None:
    """Catches: a line that is taken for closed while it still sends."""
    told: list[str] = []

    async def closed() -> None:
        told.append("closed")

    line: Any = SimpleNamespace(wait_closed=closed)
    asyncio.run(FrameStream(line, line).wait_closed())
    assert told == ["closed"]
