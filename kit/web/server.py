"""Runs pages on the event loop that also runs the table or the manager.

It alone knows how uvicorn is started and stopped inside a larger program: no signal handlers of its
own, no access log, patience with limits, and a stop that lets go of open event streams at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from kit.config import Path, refusal
from kit.web.patience import PatientProtocol

Listener = socket.socket

BACKLOG = 64
TICK_S = 1  # the date in each answer's header is as new as this
ANSWERS_MAX_S = 2  # for those under way when the server is asked to stop


class PageServer(uvicorn.Server):
    """uvicorn looks ten times a second whether it shall stop; this one is told.

    Set `should_exit` in the thread of its loop. A table at rest pays for each look.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        self._asked_to_stop = asyncio.Event()
        super().__init__(config)

    @property
    def should_exit(self) -> bool:
        return self._asked_to_stop.is_set()

    @should_exit.setter
    def should_exit(self, asked: bool) -> None:
        if asked:
            self._asked_to_stop.set()
        else:
            self._asked_to_stop.clear()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):  # at 0 it makes the date anew
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._asked_to_stop.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the program that runs us decides what Ctrl-C means


class _NoCancellations(logging.Filter):
    """uvicorn reports a stream that our own stop cut short as if the page had failed."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and record.exc_info[0] is asyncio.CancelledError)


logging.getLogger("uvicorn.error").addFilter(_NoCancellations())


def bind(host: str, port: int, named: Path = ("web", "host")) -> Listener:
    """Listens on the port, or on any free one when it is busy or 0.

    `named` is where the file names the host, for the refusal of one that is not this machine's.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            listener.close()
            raise refusal(named, f"{host} is no address of this machine.") from error
        listener.bind((host, 0))
    listener.listen(BACKLOG)
    return listener


def page_server(application: ASGIApp, tls: ssl.SSLContext | None = None) -> PageServer:
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        http=PatientProtocol,
        backlog=BACKLOG,
        timeout_graceful_shutdown=ANSWERS_MAX_S,
    )
    if tls is not None:
        config.load()
        config.ssl = tls  # made by the caller: uvicorn takes files only
    return PageServer(config)


async def serve(
    application: ASGIApp, listener: Listener, tls: ssl.SSLContext | None = None
) -> None:
    """Serves until cancelled, and is gone at once then."""
    server = page_server(application, tls)
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
