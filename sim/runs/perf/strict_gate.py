"""What the strict gate costs: per good frame beside plain cbor2, and per bad frame at its worst.

Good frames are what a table sends in a round; bad ones are the shapes that cost a decoder most,
each as long as a frame may be. CPU time and memory are measured, never asserted: the bound on both
is the frame cap, and this says what the cap is worth on this machine.
"""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import cbor2

from protocol.proof.chain import event_digest, first_digest
from protocol.wire import events, messages, portable_codec, profile
from protocol.wire.errors import ProtocolError
from protocol.wire.framing import HEADER_BYTES, frame
from protocol.wire.profile import FRAME_MAX_BYTES
from protocol.wire.stream import FrameStream
from sim.runs.perf.figures import Figure, at_most

BATCHES = 5
REPEATS = 300
BAD_REPEATS = 20
LEAK_FRAMES = 5_000
# A manager with 500 tables must not be held up noticeably by one bad frame.
BAD_FRAME_MS_MAX = 5.0
BAD_FRAME_KB_MAX = 512.0


def measure() -> list[Figure]:
    return [*_good_frames(), *_bad_frames()]


# -- good frames ---------------------------------------------------------------------------------


def _good_frames() -> list[Figure]:
    payloads = _round_of_frames()
    plain_us = _each_us(cbor2.loads, payloads)
    strict_us = _each_us(profile.decode, payloads)
    whole_us = _each_us(messages.decode, payloads)
    portable_us = _each_us(portable_codec.decode, payloads)
    mean_bytes = sum(map(len, payloads)) / len(payloads)
    beside = f"plain cbor2 {plain_us:.2f} us, in the same run; frames of {mean_bytes:.0f} bytes"
    return [
        Figure("strict gate per frame", strict_us, "us", beside),
        Figure("strict gate, times plain cbor2", strict_us / plain_us, "x"),
        Figure("gate and typed message per frame", whole_us, "us"),
        Figure("portable codec per frame, on CPython", portable_us, "us", "no compiled part"),
    ]


def _round_of_frames() -> list[bytes]:
    """What one table sends in a round with a win, heartbeats in between."""
    bodies: list[events.EventBody] = [
        events.RoundStart(7, ("1A", "3A", "4A", "6A"), ()),
        events.Hand(7, "4A", "four-aces"),
        events.LateChange(7, "3A", True, 4_200),
        events.RoundEnd(7),
    ]
    sent: list[messages.Message] = []
    digest = first_digest(bytes(16))
    for sequence, body in enumerate(bodies, start=1):
        clock = (sequence, body.KIND, body.to_body(), sequence * 9_000, 1_790_000_000_000)
        digest = event_digest(digest, *clock)
        sent.append(messages.Event(*clock, digest))
        sent.append(messages.Heartbeat(sequence * 9_000, "locked"))
    return [message.encode() for message in sent]


def _each_us(decode: Callable[[bytes], Any], payloads: list[bytes]) -> float:
    """The best of several batches: what it costs when nothing else is in its way."""
    return min(_batch_us(decode, payloads) for _ in range(BATCHES))


def _batch_us(decode: Callable[[bytes], Any], payloads: list[bytes]) -> float:
    begun_s = time.process_time()
    for _ in range(REPEATS):
        for payload in payloads:
            decode(payload)
    return (time.process_time() - begun_s) / (REPEATS * len(payloads)) * 1e6


# -- bad frames ----------------------------------------------------------------------------------


def bad_frames() -> dict[str, bytes]:
    """The most expensive wrong payloads we know, each filling its frame as far as it can."""
    count = FRAME_MAX_BYTES - 4
    keys = b"".join(b"\x19" + number.to_bytes(2, "big") + b"\x80" for number in range(256, 1270))
    colliding = b"".join(
        b"\x1b" + (number << 40).to_bytes(8, "big") + b"\x00" for number in range(1, 400)
    )
    return {
        "4,090 empty arrays and a float": b"\x99\x0f\xfb" + b"\x80" * 4090 + b"\xf9\x00\x00",
        "4,092 empty arrays, then a byte more": b"\x99\x0f\xfc" + b"\x80" * 4092 + b"\x00",
        "map of 1,014 arrays, keys out of order": b"\xb9\x03\xf7" + keys + b"\x00\x80",
        "map of keys with equal low bits": b"\xb9\x01\x90" + colliding + b"\x01\xf6",
        "nested 4,095 deep": b"\x81" * (FRAME_MAX_BYTES - 1) + b"\x00",
        "tags 4,095 deep": b"\xc1" * (FRAME_MAX_BYTES - 1) + b"\x00",
        "announces 2**63 items": b"\x9b\x7f" + b"\xff" * 7 + b"\x80" * (count - 9),
        "bytes to the end, then cut off": b"\x59\x10\x00" + bytes(count),
        "text that is not UTF-8 at its end": b"\x79\x0f\xf8" + b"a" * (count - 1) + b"\xff",
        "bignum of 4,000 bytes": b"\xc2\x59\x0f\xa0" + b"\xff" * 4000,
    }


def _bad_frames() -> list[Figure]:
    costs = {name: _bad_cost(payload) for name, payload in bad_frames().items()}
    slowest = max(costs, key=lambda name: costs[name][0])
    largest = max(costs, key=lambda name: costs[name][1])
    return [
        at_most("slowest bad frame", costs[slowest][0], BAD_FRAME_MS_MAX, "ms", slowest),
        at_most("largest bad frame", costs[largest][1], BAD_FRAME_KB_MAX, "KB", largest),
        Figure(f"left behind by {LEAK_FRAMES:,} bad frames", _left_behind_kb(), "KB"),
        Figure("header of 4 GiB, refused in", _oversized_us(), "us", "before anything is read"),
    ]


def _refuse(payload: bytes) -> None:
    try:
        messages.decode(payload)
    except ProtocolError:
        return
    raise AssertionError("this frame was meant to be bad")


def _bad_cost(payload: bytes) -> tuple[float, float]:
    """CPU milliseconds, and the most memory Python held at once in KB, for one refusal."""
    begun_s = time.process_time()
    for _ in range(BAD_REPEATS):
        _refuse(payload)
    cpu_ms = (time.process_time() - begun_s) / BAD_REPEATS * 1000
    tracemalloc.start()
    try:
        _refuse(payload)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return cpu_ms, peak_bytes / 1024


def _left_behind_kb() -> float:
    """Growth of the process over many bad frames; seen from outside, so cbor2's own counts too."""
    import psutil  # only `make perf` has it

    payloads, process = list(bad_frames().values()), psutil.Process()
    for payload in payloads:
        _refuse(payload)
    before_bytes = process.memory_info().rss
    for number in range(LEAK_FRAMES):
        _refuse(payloads[number % len(payloads)])
    return float(process.memory_info().rss - before_bytes) / 1024


def _oversized_us() -> float:
    """A header that announces more than a frame may hold, through the stream's own reader."""

    async def refuse_many() -> float:
        begun_s = time.process_time()
        for _ in range(REPEATS):
            reader = asyncio.StreamReader()
            reader.feed_data(b"\xff" * HEADER_BYTES)
            try:
                await FrameStream(reader, _NoWriter()).read()
            except ProtocolError:
                continue
            raise AssertionError("this header was meant to be refused")
        return (time.process_time() - begun_s) / REPEATS * 1e6

    return asyncio.run(refuse_many())


class _NoWriter:
    """Nothing is ever written here."""

    def write(self, data: bytes) -> None:
        raise AssertionError(f"{len(frame(data))} bytes were written")

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        pass

    async def wait_closed(self) -> None:
        await asyncio.sleep(0)


if __name__ == "__main__":
    from sim.runs.perf.figures import print_figures

    print_figures("The strict gate, on this machine", measure())
