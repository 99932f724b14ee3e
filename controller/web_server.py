"""Runs the unit's pages on the event loop that also runs the table.

It alone knows how uvicorn is started and stopped inside a larger program: no signal handlers of its
own, no access log, a stop that does not wait for open event streams.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

Listener = socket.socket

CONNECTION_COUNT_MAX = 64
BACKLOG = 64


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the program that runs us decides what Ctrl-C means


def bind(host: str, port: int) -> socket.socket:
    """Takes the port, or any free one when it is busy or 0."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.bind((host, 0))
    listener.set_inheritable(False)
    return listener


async def serve(application: Starlette, listener: socket.socket) -> None:
    """Serves until cancelled."""
    server = _Server(
        uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            lifespan="off",
            limit_concurrency=CONNECTION_COUNT_MAX,
            backlog=BACKLOG,
            timeout_graceful_shutdown=1,
        )
    )
    try:
        await server.serve(sockets=[listener])
    except asyncio.CancelledError:
        server.force_exit = True
        await server.shutdown(sockets=[listener])
        raise
    finally:
        listener.close()
