"""A Game Manager as a process: its doors, its pages, and a clean stop.

It alone knows sockets and signals. The manager and its identities are given; data directories and
arguments are the command line's business. Units come in by TLS only.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn

from manager.app import Manager
from manager.control import ControlDoor
from manager.identity.office import IdentityOffice
from manager.reading import CopyDesk
from manager.web import build
from protocol.pages.patience import PatientProtocol

CONNECTION_COUNT_MAX = 256
WEB_CONNECTION_COUNT_MAX = 64


class _WebServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # this process decides what a signal means, for the link and the pages together


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=CONNECTION_COUNT_MAX)
    listener.setblocking(False)
    return listener


class Listeners(NamedTuple):
    link: socket.socket
    enrolment: socket.socket
    web: socket.socket

    def addresses(self) -> dict[str, str]:
        return {name: _address(listener) for name, listener in self._asdict().items()}


async def serve(
    manager: Manager,
    identities: IdentityOffice,
    listeners: Listeners,
    ready: Callable[[], None],
    control: Path,
) -> int:
    """Serves until a signal (0) or until the ledger can no longer be written (1)."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    application = build(manager.view)
    pages = _WebServer(
        uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            lifespan="off",
            http=PatientProtocol,
            limit_concurrency=WEB_CONNECTION_COUNT_MAX,
            timeout_graceful_shutdown=2,
        )
    )
    copies = CopyDesk(manager.store, control.parent)
    door = ControlDoor(control, manager.correct, copies.copy)
    tasks = {
        asyncio.create_task(stop.wait(), name="stop"),
        asyncio.create_task(manager.server.halted.wait(), name="halted"),
        asyncio.create_task(pages.serve(sockets=[listeners.web]), name="pages"),
        asyncio.create_task(identities.run(listeners.link, listeners.enrolment), name="doors"),
        asyncio.create_task(door.run(), name="control"),
    }
    ready()
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        application.state.streams.close()
        pages.should_exit = True
        await manager.server.close()
        try:
            await _finish(tasks)
        finally:
            identities.close()
            await manager.close()
    return 1 if manager.server.halted.is_set() else 0


async def _finish(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """The pages end by themselves; the others are let go."""
    for task in tasks:
        if task.get_name() != "pages":
            task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):
            raise result


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"{host}:{port}"
