"""How many connections are let in, and what the one too many is told."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, ExitStack

import pytest

from manager.link import admission
from manager.link.admission import HELLO_MAX_MS, Admission, OneTooMany
from protocol.wire.errors import ErrorCode
from sim.time.loop import run_virtual


def refused(door: Admission) -> OneTooMany:
    with pytest.raises(OneTooMany) as caught, door.one_more():
        pass
    return caught.value


def test_one_connection_too_many_is_told_so_until_another_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "CONNECTIONS_MAX", 2)

    async def scenario() -> None:
        door = Admission()
        with door.one_more(), ExitStack() as second:
            second.enter_context(door.one_more())
            problem = refused(door)
            assert problem.code == ErrorCode.RATE
            assert problem.sentence == "2 connections are open; no more are taken."
            refused(door)
            assert door.turned_away_count == 2
            second.close()
            with door.one_more():
                pass

    run_virtual(scenario())


def test_newcomers_who_say_nothing_take_no_more_than_their_places(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(admission, "NEWCOMERS_MAX", 2)

    async def scenario() -> None:
        door = Admission()
        async with AsyncExitStack() as waiting:
            for _ in range(2):
                await waiting.enter_async_context(door.newcomer())
            for _ in range(5):
                assert "2 connections have not said yet who they are" in refused(door).sentence
        with door.one_more():
            pass

    run_virtual(scenario())
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 3, "at 1, 2 and 4: a flood fills no log"
    assert "(4 so far)" in told[-1]


def test_a_newcomer_who_says_nothing_is_not_waited_for_longer() -> None:
    async def scenario() -> None:
        loop, door = asyncio.get_running_loop(), Admission()
        began_s = loop.time()
        with pytest.raises(TimeoutError):
            async with door.newcomer():
                await asyncio.Event().wait()
        assert loop.time() - began_s == pytest.approx(HELLO_MAX_MS / 1000)

    run_virtual(scenario())


def test_whoever_stops_waits_for_those_inside_and_for_no_hello() -> None:
    """Catches: a manager that never ends because somebody connected and said nothing."""

    async def scenario() -> None:
        loop, door = asyncio.get_running_loop(), Admission()
        await door.leave()  # nobody is there

        async def silent() -> None:
            with door.one_more():
                async with door.newcomer():
                    await asyncio.Event().wait()

        door = Admission()
        newcomer = asyncio.create_task(silent())
        await asyncio.sleep(0.1)
        began_s = loop.time()
        await door.leave()
        assert loop.time() == began_s
        with pytest.raises(TimeoutError):
            await newcomer
        assert refused(door).code == ErrorCode.INTERNAL

    run_virtual(scenario())
