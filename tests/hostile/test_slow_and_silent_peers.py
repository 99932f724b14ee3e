"""Peers that connect and say little or nothing: dropped in time, and never in a good unit's way."""

from __future__ import annotations

import asyncio
import logging

import pytest

from manager.link import admission
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.framing import frame
from protocol.wire.messages import Ack, Error, Heartbeat
from tests.kit.pretend_units import Desk, PretendUnit
from tests.kit.unit_line import Line, last_error, open_line, play

OPENING = '"8000.00"'  # as the table that `play` opens: they share a meter


async def trickle(line: Line, data: bytes) -> float:
    """Sends a byte a second until the line is ended; returns when that was."""
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    for byte in data:
        if line.served.done():
            break
        line.up.write(bytes([byte]))
        await asyncio.wait([line.served], timeout=1)
    await line.served
    return loop.time() - begun_s


def silent(desk: Desk) -> Line:
    return Line(desk, PretendUnit("UF-0000"))


def test_a_hello_of_a_byte_a_second_is_not_waited_for() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        took_s = await trickle(line, frame(line.unit.hello().encode()))
        assert took_s == pytest.approx(5, abs=0.01)
        assert line.down.closed

    play(main)


def test_a_greeted_unit_must_finish_a_frame_it_began() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        took_s = await trickle(line, frame(Heartbeat(1, "o" * 16).encode()))
        assert took_s == pytest.approx(5, abs=0.01)

    play(main)


def test_a_trickling_peer_does_not_disturb_a_good_unit() -> None:
    async def main(desk: Desk) -> None:
        desk.open_table("bad-1", opening=OPENING)
        good, bad = open_line(desk), open_line(desk, "bad-1")
        await good.greet()
        trickling = asyncio.create_task(trickle(bad, frame(bad.unit.hello().encode())))
        for number in range(1, 8):
            await good.send(Heartbeat(number, "open"))
            await good.say(events.RoundStart(number, (), ()))
            asked_s = asyncio.get_running_loop().time()
            await good.until(Ack)
            assert asyncio.get_running_loop().time() == asked_s
            await asyncio.sleep(1)
        await trickling
        assert not good.served.done()
        await good.hang_up()

    play(main)


def test_newcomers_beyond_the_limit_are_told_and_the_good_units_stay(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(desk: Desk) -> None:
        good = open_line(desk)
        await good.greet()
        waiting = [silent(desk) for _ in range(admission.NEWCOMERS_MAX)]
        await asyncio.sleep(0.1)
        one_too_many = silent(desk)
        assert await last_error(one_too_many) == ErrorCode.RATE
        for _ in range(100):
            assert await last_error(silent(desk)) == ErrorCode.RATE
        await good.say(events.RoundStart(1, ("1A",), (), (), 100))
        assert (await good.until(Ack)).last_sequence == 1
        for line in waiting:
            assert await line.until_end() == []
        assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.01)
        await good.hang_up()

    with caplog.at_level(logging.WARNING, logger="manager.link.admission"):
        play(main)
    told = [
        record.getMessage() for record in caplog.records if record.name == "manager.link.admission"
    ]
    assert "64 connections have not said yet who they are" in told[0]
    assert len(told) == 7, "1, 2, 4 … 64: a flood of strangers is no flood of log lines"


def test_after_the_newcomers_were_dropped_a_unit_gets_in() -> None:
    async def main(desk: Desk) -> None:
        waiting = [silent(desk) for _ in range(admission.NEWCOMERS_MAX)]
        await asyncio.sleep(0.1)
        unit = open_line(desk)
        assert await last_error(unit) == ErrorCode.RATE
        await asyncio.sleep(5)
        again = open_line(desk)
        await again.greet()
        await again.hang_up()
        for line in waiting:
            await line.served

    play(main)


def test_connections_beyond_the_limit_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main(desk: Desk) -> None:
        desk.open_table("touch-2", opening=OPENING)
        desk.open_table("touch-3", opening=OPENING)
        lines = [open_line(desk), open_line(desk, "touch-2")]
        for line in lines:
            await line.greet()
        third = open_line(desk, "touch-3")
        (error,) = await third.until_end()
        assert isinstance(error, Error)
        assert (error.code, error.sentence) == (
            ErrorCode.RATE,
            "2 connections are open; no more are taken.",
        )
        await lines[0].hang_up()
        again = open_line(desk, "touch-3")
        await again.greet()
        for line in (lines[1], again):
            await line.hang_up()

    monkeypatch.setattr(admission, "CONNECTIONS_MAX", 2)
    play(main)


def test_a_manager_that_stops_does_not_wait_for_a_hello() -> None:
    async def main(desk: Desk) -> None:
        lines = [silent(desk) for _ in range(3)]
        await asyncio.sleep(0.1)
        await desk.manager.server.close()
        assert asyncio.get_running_loop().time() == pytest.approx(0.1, abs=0.01)
        assert await last_error(silent(desk)) == ErrorCode.INTERNAL
        for line in lines:
            await line.served

    play(main)


def test_a_peer_that_left_before_it_was_turned_away_harms_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main(desk: Desk) -> None:
        line = silent(desk)

        def gone(data: bytes) -> None:
            raise ConnectionResetError("gone")

        line.down.write = gone  # type: ignore[method-assign]
        await line.served

    monkeypatch.setattr(admission, "CONNECTIONS_MAX", 0)
    play(main)
