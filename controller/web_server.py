"""Runs the unit's pages on the event loop that also runs the table.

It alone knows how uvicorn is started and stopped inside a larger program: no signal handlers of its
own, no access log, and a stop that lets go of open event streams at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from hal.errors import ConfigError
from protocol.pages.patience import PatientProtocol

Listener = socket.socket

CONNECTION_COUNT_MAX = 64
BACKLOG = 64


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the program that runs us decides what Ctrl-C means


class _NoCancellations(logging.Filter):
    """uvicorn reports a stream that our own stop cut short as if the page had failed."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and record.exc_info[0] is asyncio.CancelledError)


logging.getLogger("uvicorn.error").addFilter(_NoCancellations())


def bind(host: str, port: int) -> Listener:
    """Listens on the port, or on any free one when it is busy or 0."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            listener.close()
            raise ConfigError(f"web.host: {host} is no address of this machine.") from error
        listener.bind((host, 0))
    listener.listen(BACKLOG)
    return listener


async def serve(application: Starlette, listener: Listener) -> None:
    """Serves until cancelled."""
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        http=PatientProtocol,
        limit_concurrency=CONNECTION_COUNT_MAX,
        backlog=BACKLOG,
    )
    server = _Server(config)
    try:
        await server.serve(sockets=[listener])
    finally:
        _let_go(server)
        listener.close()
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)


def _let_go(server: uvicorn.Server) -> None:
    for listening in getattr(server, "servers", []):
        listening.close()
    for connection in list(server.server_state.connections):
        transport = getattr(connection, "transport", None)
        if transport is not None:
            transport.abort()
    for task in server.server_state.tasks:
        task.cancel()
