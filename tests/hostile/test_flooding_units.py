"""One bad unit beside good ones, in virtual time: it is cut off with RATE, they hear back in time.

Virtual time stands still while code runs, so decoding is given a price here: each frame moves the
clock by more than it costs on a real machine (`make perf` measures that). Without the limit on
frames the bound below is broken a hundred times over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from manager.link import frame_rate, server
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.framing import frame
from protocol.wire.messages import Ack, Error, Heartbeat, Message, decode
from protocol.wire.version import WINDOW
from sim.time.loop import VirtualLoop
from tests.kit.unit_line import Line, open_line, play

FRAME_PRICE_NS = 200_000
FLOODERS = 5
FLOOD_FRAMES = 5_000
# A round of all flooders, each with its hello and its burst, and once more for the good unit's own.
ACK_BOUND_S = 2 * FLOODERS * (frame_rate.BURST + 3) * FRAME_PRICE_NS / 1e9
OPENING = '"8000.00"'  # as the table that `play` opens: they share a meter
NOISE = frame(Heartbeat(1, "open").encode())


@pytest.fixture(autouse=True)
def decoding_takes_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def decode_at_a_price(payload: bytes) -> Message:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.now_ns += FRAME_PRICE_NS
        return decode(payload)

    monkeypatch.setattr(server, "decode", decode_at_a_price)
    return


async def ack_times(line: Line, count: int) -> list[float]:
    """Seconds from each event to its receipt, one event every 50 ms."""
    loop, found = asyncio.get_running_loop(), []
    for number in range(1, count + 1):
        begun_s = loop.time()
        event = await line.say(events.RoundStart(number, ("1A",), (), (), 100))
        while (await line.until(Ack)).last_sequence < event.sequence:
            pass
        found.append(loop.time() - begun_s)
        await asyncio.sleep(0.05)
    return found


async def flood(line: Line, noise: bytes) -> list[ErrorCode]:
    """Greets, floods, and returns the codes it was told before it was cut off."""
    await line.send(line.unit.hello(settings_digest=bytes(32)))
    line.up.write(noise)
    return [ErrorCode(m.code) for m in await line.until_end() if isinstance(m, Error)]


def test_the_ack_bound_is_tight_enough_to_mean_something() -> None:
    assert ACK_BOUND_S < 0.05
    assert FLOOD_FRAMES * FRAME_PRICE_NS / 1e9 > 10 * ACK_BOUND_S


@pytest.mark.parametrize(
    "noise", [NOISE, frame(Error(16, "nothing is wrong").encode())], ids=["heartbeats", "errors"]
)
def test_a_flood_of_frames_is_cut_off_and_the_good_unit_hears_back_in_time(noise: bytes) -> None:
    async def main(desk) -> None:
        for number in range(FLOODERS):
            desk.open_table(f"bad-{number}", opening=OPENING)
        good = open_line(desk)
        await good.greet()
        told: list[ErrorCode] = []
        stop = asyncio.Event()

        async def keep_flooding(table_id: str) -> None:
            while not stop.is_set():
                told.extend(await flood(open_line(desk, table_id), noise * FLOOD_FRAMES))

        floods = [
            asyncio.create_task(keep_flooding(f"bad-{number}"), name=f"flood {number}")
            for number in range(FLOODERS)
        ]
        await asyncio.sleep(0.1)
        times = await ack_times(good, 20)
        stop.set()
        await asyncio.gather(*floods)
        assert max(times) <= ACK_BOUND_S
        assert len(told) > FLOODERS
        assert set(told) == {ErrorCode.RATE}
        await good.hang_up()

    play(main)


def test_events_beyond_the_window_are_cut_off_and_the_good_unit_hears_back() -> None:
    async def main(desk) -> None:
        desk.open_table("bad-1", opening=OPENING)
        good, bad = open_line(desk), open_line(desk, "bad-1")
        await good.greet()
        many = [bad.unit.make(events.RoundStart(n, (), ())) for n in range(1, 1001)]
        noise = b"".join(frame(event.encode()) for event in many)
        bad.unit.sequence = 1000
        flooding = asyncio.create_task(flood(bad, noise), name="flood")
        times = await ack_times(good, 5)
        assert await flooding == [ErrorCode.RATE]
        assert max(times) <= 2 * (WINDOW + 3) * FRAME_PRICE_NS / 1e9
        assert desk.manager.units.get("UF-bad-1").last_sequence == WINDOW
        await good.hang_up()

    play(main)


def test_a_frame_after_the_cut_is_not_even_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []

    def count_decodes(payload: bytes) -> Message:
        decoded.append(payload)
        return decode(payload)

    async def main(desk) -> None:
        monkeypatch.setattr(server, "decode", count_decodes)
        assert await flood(open_line(desk), NOISE * FLOOD_FRAMES) == [ErrorCode.RATE]

    play(main)
    assert len(decoded) <= frame_rate.BURST + 2


def test_heartbeats_at_their_pace_never_use_up_the_limit() -> None:
    async def main(desk) -> None:
        line = open_line(desk)
        await line.greet()
        for second in range(120):
            await line.send(Heartbeat(second, "open"))
            await asyncio.sleep(1)
        assert not line.served.done()
        await line.hang_up()

    play(main)


def test_heartbeats_held_up_by_the_network_are_let_through() -> None:
    async def main(desk) -> None:
        line = open_line(desk)
        await line.greet()
        for _ in range(10):
            line.up.write(NOISE * 10)
            await asyncio.sleep(4)
        assert not line.served.done()
        await line.hang_up()

    play(main)


def test_a_long_backlog_drains_window_by_window() -> None:
    """The limit is on frames without a receipt; a unit that was offline for a day is no flooder."""

    async def main(desk) -> None:
        line = open_line(desk)
        await line.greet()
        for number in range(1, 401):
            await line.say(events.RoundStart(2 * number - 1, (), ()))
            if number % WINDOW == 0:
                while (await line.until(Ack)).last_sequence < number:
                    pass
        while (await line.until(Ack)).last_sequence < 400:
            pass
        await line.hang_up()

    play(main)
