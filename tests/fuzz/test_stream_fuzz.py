"""Streams of frames in any chunks, cut off anywhere, with any header: frames, then one refusal.

The reader under test is asyncio's own, fed as a network would; what it was asked for is counted,
so that "the cap is checked before reading" is a fact and not a hope.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.framing import HEADER_BYTES, frame
from protocol.wire.profile import FRAME_MAX_BYTES
from protocol.wire.stream import FrameStream
from sim.time.loop import run_virtual
from tests.fuzz.effort import examples

payloads = st.lists(
    st.binary(min_size=1, max_size=40) | st.sampled_from([b"a" * 4095, b"b" * 4096]), max_size=8
)
bad_lengths = st.just(0) | st.integers(FRAME_MAX_BYTES + 1, 2**32 - 1)


class CountingReader(asyncio.StreamReader):
    """Remembers the most it was ever asked for in one go."""

    asked_bytes_max = 0

    async def readexactly(self, n: int) -> bytes:
        self.asked_bytes_max = max(self.asked_bytes_max, n)
        return await super().readexactly(n)


class NoWriter:
    def write(self, data: bytes) -> None:
        raise AssertionError("a reader does not write")

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        pass

    async def wait_closed(self) -> None:
        await asyncio.sleep(0)


async def read_all(data: bytes, cuts: list[int], pause_s: float = 0.001) -> tuple[list[bytes], str]:
    """Everything read from `data` in the given chunks, and how it ended."""
    reader = CountingReader()
    feeding = asyncio.create_task(_feed(reader, data, cuts, pause_s))
    stream = FrameStream(reader, NoWriter())
    found: list[bytes] = []
    ended = "clean"
    try:
        while (payload := await stream.read()) is not None:
            found.append(payload)
    except ProtocolError as problem:
        ended = problem.code.name
        assert await _ends_again(stream) == ended
    await feeding
    assert reader.asked_bytes_max <= FRAME_MAX_BYTES
    return found, ended


async def _feed(reader: asyncio.StreamReader, data: bytes, cuts: list[int], pause_s: float) -> None:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in pairwise(edges):
        if start < end:
            reader.feed_data(data[start:end])
        await asyncio.sleep(pause_s)
    reader.feed_eof()


async def _ends_again(stream: FrameStream) -> str:
    """A stream that was refused once stays refused."""
    try:
        await stream.read()
    except ProtocolError as problem:
        return problem.code.name
    return "read on"


cuts = st.lists(st.integers(0, 2**16), max_size=12)


@examples(150)
@given(payloads, cuts)
def test_frames_survive_any_chunking(sent: list[bytes], cuts: list[int]) -> None:
    data = b"".join(frame(payload) for payload in sent)
    assert run_virtual(read_all(data, cuts)) == (sent, "clean")


@examples(60)
@given(st.lists(st.binary(min_size=1, max_size=3), min_size=100, max_size=400), cuts)
def test_many_small_frames_arrive_whole(sent: list[bytes], cuts: list[int]) -> None:
    data = b"".join(frame(payload) for payload in sent)
    assert run_virtual(read_all(data, cuts)) == (sent, "clean")


@examples(150)
@given(payloads, cuts, st.integers(0, 2**16))
def test_a_stream_that_ends_inside_a_frame_is_cut_off(
    sent: list[bytes], cuts: list[int], end: int
) -> None:
    data = b"".join(frame(payload) for payload in sent)
    kept = data[: end % (len(data) + 1)]
    whole, boundary = [], 0
    for payload in sent:
        if boundary + HEADER_BYTES + len(payload) > len(kept):
            break
        boundary += HEADER_BYTES + len(payload)
        whole.append(payload)
    ended = "clean" if boundary == len(kept) else "CUT_OFF"
    assert run_virtual(read_all(kept, cuts)) == (whole, ended)


@examples(150)
@given(payloads, cuts, bad_lengths, st.binary(max_size=60))
def test_a_length_no_frame_may_have_ends_the_stream_before_it_is_read(
    sent: list[bytes], cuts: list[int], length: int, rest: bytes
) -> None:
    good = b"".join(frame(payload) for payload in sent)
    data = good + length.to_bytes(HEADER_BYTES, "big") + rest
    code = ErrorCode.MALFORMED if length == 0 else ErrorCode.OVERSIZED
    assert run_virtual(read_all(data, cuts)) == (sent, code.name)


@examples(150)
@given(st.binary(max_size=400), cuts)
def test_any_bytes_are_frames_and_then_one_refusal(data: bytes, cuts: list[int]) -> None:
    found, ended = run_virtual(read_all(data, cuts))
    taken = b"".join(frame(payload) for payload in found)
    assert data.startswith(taken)
    assert (ended == "clean") == (taken == data)
    assert ended in ("clean", "CUT_OFF", "OVERSIZED", "MALFORMED")


@examples(60)
@given(payloads, cuts)
def test_a_read_that_timed_out_loses_nothing(sent: list[bytes], cuts: list[int]) -> None:
    async def impatient() -> list[bytes]:
        reader = asyncio.StreamReader()
        data = b"".join(frame(payload) for payload in sent)
        feeding = asyncio.create_task(_feed(reader, data, cuts, pause_s=1.0))
        stream = FrameStream(reader, NoWriter())
        found: list[bytes] = []
        while True:
            try:
                async with asyncio.timeout(0.3):
                    payload = await stream.read()
            except TimeoutError:
                continue
            if payload is None:
                break
            found.append(payload)
        await feeding
        return found

    assert run_virtual(impatient()) == sent
