"""Serves an app on a free port in a thread of its own, for tests that need a real browser."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, listening: threading.Event) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.set()


class Served:
    """A running server; `do` runs a change in the server's own loop, where the fakes live."""

    def __init__(self, app: Starlette) -> None:
        self.app = app
        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
        self._ready = threading.Event()
        self._server = _Server(config, self._ready)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="served pages")

    def __enter__(self) -> Served:
        self._thread.start()
        assert self._ready.wait(10), "the page server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self.do(self.app.state.streams.close)
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive(), "the page server did not stop"

    @property
    def url(self) -> str:
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def do(self, change: Callable[..., Any], **fields: Any) -> None:
        done = threading.Event()

        def run() -> None:
            change(**fields)
            done.set()

        assert self._loop is not None
        self._loop.call_soon_threadsafe(run)
        assert done.wait(5), "the page server's loop hangs"

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.serve()
