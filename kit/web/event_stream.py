"""A page's one live stream: the view as server-sent events.

It alone decides when a page hears something: at once after a change, never more often than
`interval_ms`, and at least every `BEAT_MS` even when nothing changed, so that a page can tell
"nothing new" from "nobody there". The beat is the view itself, because a browser hides SSE comments
from the page and because a repeated view carries fresh ages. When all streams are taken, the oldest
of the busiest address ends, so that one address shuts nobody else out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from kit.places import Place, gives_way

BEAT_MS = 1000
STREAMS_MAX = 24
View = Mapping[str, Any]
FIRST_FRAME = b": one view per event, its version as the id\nretry: 1000\n\n"


@dataclass
class Feed:
    """Where a stream's views come from; one made for a stream serves the others of its moment.

    A view that takes long is made in turns: `view` may give something to wait for.
    """

    view: Callable[[], View | Awaitable[View]]
    version: Callable[[], int]
    changed: Callable[[int], Awaitable[int]]
    interval_ms: int = 100
    shared_ms: int = 0  # so long a view serves all streams, even if something has changed since
    _made: tuple[int, float, bytes] = field(default=(-1, 0.0, b""), init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def frame(self) -> tuple[int, bytes]:
        """The view as an event, with its version."""
        async with self._turn:  # whoever comes while it is made gets the same
            version, now_s = self.version(), asyncio.get_running_loop().time()
            made_version, made_s, frame = self._made
            if frame and now_s - made_s < self.shared_ms / 1000:
                return made_version, frame  # who gets it hears of the change after its interval
            if made_version != version or now_s - made_s >= self.interval_ms / 1000:
                view = self.view()
                frame = event(version, await view if isinstance(view, Awaitable) else view)
                self._made = version, now_s, frame
            return version, frame


@dataclass
class Streams:
    """All streams of one app: which are open, and the wish that they end."""

    count_max: int = STREAMS_MAX
    closing: bool = field(default=False, init=False)
    _open: list[EventStream] = field(default_factory=list, init=False)

    @property
    def count(self) -> int:
        return len(self._open)

    @property
    def open_ones(self) -> list[EventStream]:
        return list(self._open)

    def close(self) -> None:
        """Every open stream ends within one beat; call it before stopping the server."""
        self.closing = True

    def open(self, feed: Feed, is_over: Callable[[], bool] = bool) -> Response:
        """`is_over` ends the stream; it is asked before each view."""
        if self.closing:
            return PlainTextResponse("The pages are being stopped.", status_code=503)
        return EventStream(feed, self, is_over)

    def enter(self, stream: EventStream) -> None:
        if self.count >= self.count_max:
            leaving = gives_way(Place(other, other.address) for other in self._open)
            if leaving is not None:
                self.leave(leaving)
        self._open.append(stream)

    def leave(self, stream: EventStream) -> None:
        stream.is_ending = True
        if stream in self._open:
            self._open.remove(stream)


def event(version: int, view: View) -> bytes:
    body = json.dumps(view, separators=(",", ":"), ensure_ascii=False)
    return f"id: {version}\ndata: {body}\n\n".encode()


async def frames(feed: Feed, is_ending: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
    yield FIRST_FRAME
    while not is_ending():
        version, frame = await feed.frame()
        yield frame
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

    def __init__(self, feed: Feed, streams: Streams, is_over: Callable[[], bool] = bool) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self.address = ""
        self.is_ending = False
        self._streams = streams
        self._frames = frames(feed, lambda: self.is_ending or streams.closing or is_over())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_until_gone(receive), name="page stream: page still there")
        self.address = (scope.get("client") or ("", 0))[0]
        self._streams.enter(self)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._pump(send, gone.done)
        finally:
            self._streams.leave(self)
            gone.cancel()
            await asyncio.gather(gone, self._frames.aclose(), return_exceptions=True)

    async def _pump(self, send: Send, is_gone: Callable[[], bool]) -> None:
        async for frame in self._frames:
            if is_gone():
                return
            await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
