"""A page's one live stream: the view as server-sent events.

It alone decides when a page hears something: at once after a change, never more often than
`interval_ms`, and at least every `BEAT_MS` even when nothing changed, so that a page can tell
"nothing new" from "nobody there". The beat is the view itself, because a browser hides SSE comments
from the page and because a repeated view carries fresh ages. A client too slow to take a frame is
dropped, never buffered for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

BEAT_MS = 1000
SLOW_MS = 4000
STREAMS_MAX = 24
FIRST_FRAME = b": one view per event, its version as the id\nretry: 1000\n\n"


@dataclass(frozen=True)
class Feed:
    """Where a stream's views come from."""

    view: Callable[[], Mapping[str, Any]]
    version: Callable[[], int]
    changed: Callable[[int], Awaitable[int]]
    interval_ms: int = 100


@dataclass
class Streams:
    """All streams of one app: how many are open, and the wish that they end."""

    count_max: int = STREAMS_MAX
    count: int = 0
    closing: bool = field(default=False, init=False)

    def close(self) -> None:
        """Every open stream ends within one beat; call it before stopping the server."""
        self.closing = True

    def open(self, feed: Feed) -> Response:
        if self.closing or self.count >= self.count_max:
            sentence = "Too many pages are open here. Close one and reload."
            return PlainTextResponse(sentence, status_code=503)
        return EventStream(feed, self)


def event(version: int, view: Mapping[str, Any]) -> bytes:
    body = json.dumps(view, separators=(",", ":"), ensure_ascii=False)
    return f"id: {version}\ndata: {body}\n\n".encode()


async def frames(feed: Feed, streams: Streams) -> AsyncGenerator[bytes, None]:
    yield FIRST_FRAME
    while not streams.closing:
        version = feed.version()
        yield event(version, feed.view())
        await asyncio.sleep(feed.interval_ms / 1000)
        await _change_or_beat(feed, version)


async def _change_or_beat(feed: Feed, version: int) -> None:
    try:
        async with asyncio.timeout((BEAT_MS - feed.interval_ms) / 1000):
            await feed.changed(version)
    except TimeoutError:
        return  # Nothing changed for a whole beat: the same view goes out again.


class EventStream(Response):
    media_type = "text/event-stream"

    def __init__(self, feed: Feed, streams: Streams) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._streams = streams
        self._frames = frames(feed, streams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_until_gone(receive), name="page stream: page still there")
        self._streams.count += 1
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._pump(send, gone.done)
        finally:
            self._streams.count -= 1
            gone.cancel()
            await asyncio.gather(gone, self._frames.aclose(), return_exceptions=True)

    async def _pump(self, send: Send, is_gone: Callable[[], bool]) -> None:
        async for frame in self._frames:
            if is_gone() or not await _sent(send, frame):
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _sent(send: Send, frame: bytes) -> bool:
    """False when the client did not take the frame in time: it gets no other."""
    message = {"type": "http.response.body", "body": frame, "more_body": True}
    try:
        async with asyncio.timeout(SLOW_MS / 1000):
            await send(message)
    except TimeoutError:
        return False
    return True


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
