"""How long the manager's loop is held in one go while a large floor plays and many people watch.

One loop serves the units and the pages, so what a page holds it for is what a receipt may wait. In
CPU time of that loop's thread: a busy machine makes it later, not longer. The units' lines lead
nowhere, so TLS is not in it; the browsers are real connections from a process of their own.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import selectors
import socket
import statistics
import tempfile
import time
from pathlib import Path

from kit.web.server import page_server
from manager.app import Manager
from manager.data_folder import LEDGER_NAME
from manager.ledger.store.writer import ThreadWriter
from manager.serve import WebDoor, bind, open_access, settle_memory
from manager.web.app import build
from manager.web.durable_pages import only_durable
from protocol.wire.framing import frame
from protocol.wire.messages import Event
from sim.runs.floor.clients import MEMORY_DISK, SENSORS
from sim.runs.floor.property import open_tables, unit_names
from sim.runs.perf.books import ChainedUnit, rounds_of
from sim.runs.perf.figures import Figure

TABLES = 500
READERS = 50
PER_ADDRESS = 10  # the page server gives one address only so many places
WAGERS_PER_S = 1000
SECONDS = 6
PLAYED_S = 60  # more than enough for all of it
WINDOW_S = 0.5  # a page is made once in each
READ_BYTES = 1 << 16
STOP_AT_MOST_S = 10.0


def measure() -> list[Figure]:
    place = MEMORY_DISK if MEMORY_DISK.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        return asyncio.run(_measured(Path(folder)))


async def _measured(data: Path) -> list[Figure]:
    manager = Manager(str(data / LEDGER_NAME), lambda: time.time_ns() // 1_000_000)
    access = open_access(manager, data, WebDoor())
    token = access.sessions.begin(access.people.add_first("Perf", "no password"))
    names = unit_names(TABLES)
    open_tables(manager, names)
    loop, store = asyncio.get_running_loop(), manager.store
    pages = build(manager.view, access)
    server = page_server(only_durable(pages, store.commits.until_durable))
    listener = bind("127.0.0.1", 0)
    store.commits.beside(ThreadWriter(loop), manager.server.halt)
    units = [ChainedUnit(unit_id) for unit_id, _ in names]
    round_s = len(SENSORS) * TABLES / WAGERS_PER_S
    told = rounds_of(units, int(PLAYED_S / round_s))
    settle_memory()
    tasks = [asyncio.create_task(server.serve(sockets=[listener]), name="pages")]
    lines = await _greeted(manager, units, tasks)
    pause_s = round_s / (2 * TABLES)  # between two events of the floor
    tasks.append(asyncio.create_task(_play(lines, told, pause_s), name="play"))
    alone_ms = await _longest_turns_ms(SECONDS)
    readers = _readers(listener.getsockname()[1], f"{access.cookie}={token}")
    try:
        while pages.state.streams.count < READERS:  # noqa: ASYNC110 - browsers, not tasks
            await asyncio.sleep(0.05)
        watched_ms = await _longest_turns_ms(SECONDS)
    finally:
        readers.terminate()
        readers.join(STOP_AT_MOST_S)
        pages.state.streams.close()
        server.should_exit = True
        await asyncio.wait_for(tasks.pop(0), STOP_AT_MOST_S)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await manager.close()
    return [_figure("nobody reads", alone_ms), _figure(f"{READERS} read the floor", watched_ms)]


def _figure(who: str, longest_ms: list[float]) -> Figure:
    name = f"the manager's loop held by one turn, {TABLES} tables, {who}"
    note = (
        f"the longest in half a second, median of {len(longest_ms)}; longest of all"
        f" {max(longest_ms):.1f}; {WAGERS_PER_S} wagers a second"
    )
    return Figure(name, statistics.median(longest_ms), "CPU-ms", note)


class _Nowhere:
    """A unit's end of the line that takes everything at once."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


async def _greeted(
    manager: Manager, units: list[ChainedUnit], tasks: list[asyncio.Task[None]]
) -> dict[str, asyncio.StreamReader]:
    """What each unit says is fed into its reader. They come in over a second, as on a floor."""
    lines: dict[str, asyncio.StreamReader] = {}
    for arrival, unit in enumerate(units, start=1):
        line = lines[unit.unit_id] = asyncio.StreamReader()
        serving = manager.server.serve_stream(line, _Nowhere(), arrival, unit.hello)
        tasks.append(asyncio.create_task(serving, name="unit"))
        await asyncio.sleep(1 / TABLES)
    return lines


async def _play(
    lines: dict[str, asyncio.StreamReader], told: list[tuple[str, Event]], pause_s: float
) -> None:
    next_s = time.monotonic()
    for unit_id, event in told:
        lines[unit_id].feed_data(frame(event.encode()))
        next_s += pause_s
        await asyncio.sleep(max(0.0, next_s - time.monotonic()))


async def _longest_turns_ms(seconds: float) -> list[float]:
    """For each window: the most CPU that one turn of the loop took, with all that was due in it."""
    loop, found = asyncio.get_running_loop(), []
    for _ in range(int(seconds / WINDOW_S)):
        until_s, longest_s, before_s = loop.time() + WINDOW_S, 0.0, time.thread_time()
        while loop.time() < until_s:
            await asyncio.sleep(0)
            now_s = time.thread_time()
            longest_s, before_s = max(longest_s, now_s - before_s), now_s
        found.append(longest_s * 1000)
    return found


def _readers(port: int, cookie: str) -> multiprocessing.process.BaseProcess:
    context = multiprocessing.get_context("spawn")
    readers = context.Process(target=read_pages, args=(port, cookie), daemon=True)
    readers.start()
    return readers


def read_pages(port: int, cookie: str) -> None:
    """Browsers as far as the manager can tell: each reads the floor's stream for ever."""
    asked = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode()
    open_ones = selectors.DefaultSelector()
    for number in range(READERS):
        address = f"127.0.1.{number // PER_ADDRESS + 1}"
        line = socket.create_connection(("127.0.0.1", port), source_address=(address, 0))
        line.sendall(asked)
        open_ones.register(line, selectors.EVENT_READ)
    while True:
        for key, _ in open_ones.select():
            assert isinstance(key.fileobj, socket.socket)
            if not key.fileobj.recv(READ_BYTES):
                open_ones.unregister(key.fileobj)
