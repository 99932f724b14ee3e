"""Streams of the service page that are opened and never read, or opened without end.

Mutations these catch: a page that counts as somebody looking although it takes nothing, and streams
that nobody bounds.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.applications import Starlette

from controller.service.live.mode import ServiceMode
from controller.service.page.app import COOKIE, STREAMS_MAX, PageOptions, build
from controller.service.page.sessions import Sessions
from hal import aio
from sim.time.loop import run_virtual
from tests.kit.service_table import TECH, open_table, service_of, unit_of

TAKEN_FRAMES = 4


def scope_of(path: str, cookie: str) -> dict[str, Any]:
    headers = [(b"host", b"192.0.2.1"), (b"cookie", cookie.encode())]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("192.0.2.9", 1),
        "server": ("192.0.2.1", 80),
    }


async def open_stream(app: Starlette, path: str, cookie: str, frames: int) -> None:
    """Takes so many frames and then nothing more, without ever closing."""
    left = [frames]

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("nothing comes")

    async def send(message: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            await asyncio.Event().wait()

    await app(scope_of(path, cookie), receive, send)


async def stop_reading_while_lamps_are_lit() -> None:
    async with open_table() as (_floor, table):
        service = service_of(table)
        sessions = Sessions(lambda: 0.0)
        cookie = f"{COOKIE}={sessions.begin(TECH)}"
        app = build(service, PageOptions(), sessions)
        paths = ("/events", "/live")
        streams = [
            asyncio.create_task(open_stream(app, path, cookie, TAKEN_FRAMES), name=path)
            for path in paths
        ]
        await service.acts.enter(TECH)
        service.acts.exercise("white", 0)
        await aio.sleep_ms(12_000)
        assert not unit_of(table).lights.is_exercised, "a page that takes nothing holds the lamps"
        await aio.sleep_ms(120_000)
        assert not service.mode.is_on, "a page that takes nothing holds the table"
        assert unit_of(table).pages.view()["state"] == "open"
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*streams, return_exceptions=True)


def test_a_page_that_takes_nothing_holds_neither_lamps_nor_table() -> None:
    run_virtual(stop_reading_while_lamps_are_lit())


def test_a_table_that_is_held_by_a_dead_page_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: whoever has a stream open counts as there."""

    async def always_there(self: ServiceMode) -> None:
        while True:
            self.seen()
            await aio.sleep_ms(500)

    monkeypatch.setattr(ServiceMode, "run", always_there)
    with pytest.raises(AssertionError, match="holds the lamps"):
        run_virtual(stop_reading_while_lamps_are_lit())


async def open_streams_without_end() -> None:
    async with open_table() as (_floor, table):
        sessions = Sessions(lambda: 0.0)
        cookie = f"{COOKIE}={sessions.begin(TECH)}"
        app = build(service_of(table), PageOptions(), sessions)
        streams = [
            asyncio.create_task(open_stream(app, "/live", cookie, 10_000), name=f"stream {number}")
            for number in range(3 * STREAMS_MAX)
        ]
        await aio.sleep_ms(3000)
        assert app.state.streams.count == STREAMS_MAX
        assert sum(not stream.done() for stream in streams) == STREAMS_MAX
        sessions.end(cookie.partition("=")[2])
        await aio.sleep_ms(3000)
        assert app.state.streams.count == 0, "a stream outlives its session"
        await asyncio.gather(*streams)


def test_streams_are_bounded_and_end_with_their_session() -> None:
    run_virtual(open_streams_without_end())
