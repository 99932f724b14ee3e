"""The network between tables and their manager, in memory and in virtual time.

It alone knows which cable is plugged and what is still on the wire. As with TCP, bytes written
while the cable is out are delivered when it is back, if both ends are still there; a unit that
loses power says nothing more, so its peer learns of it only by silence.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from protocol.stream import FrameStream

LATENCY_MS = 1
IN_FLIGHT_BYTES_MAX = 1 << 20

Handler = Callable[[asyncio.StreamReader, Any], Awaitable[None]]


class Cable:
    """One table's network cable."""

    def __init__(self) -> None:
        self.plugged = True
        self._pipes: list[Pipe] = []
        self._replugged = asyncio.Event()

    def pull(self) -> None:
        self.plugged = False
        self._replugged.clear()

    def plug(self) -> None:
        self.plugged = True
        self._replugged.set()
        for pipe in self._pipes:
            pipe.flush()

    async def until_plugged(self) -> None:
        while not self.plugged:
            await self._replugged.wait()

    def attach(self, pipe: Pipe) -> None:
        self._pipes = [other for other in self._pipes if not other.finished]
        self._pipes.append(pipe)


class Pipe:
    """One direction of one connection, with the writer's half of asyncio's stream interface."""

    def __init__(self, cable: Cable) -> None:
        self.reader = asyncio.StreamReader()
        self.finished = False
        self._cable = cable
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._closing = False
        self._severed = False
        cable.attach(self)

    def write(self, data: bytes) -> None:
        if self._closing:
            raise ConnectionResetError("the connection is closed")
        self._waiting_bytes += len(data)
        if self._waiting_bytes > IN_FLIGHT_BYTES_MAX:
            raise ConnectionResetError("the network holds no more bytes for this connection")
        self._send(bytes(data))

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._send(b"")

    def is_closing(self) -> bool:
        return self._closing

    async def wait_closed(self) -> None:
        await asyncio.sleep(0)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return "simulated" if name == "peername" else default

    def sever(self) -> None:
        """The sender lost power: nothing more is sent, not even a goodbye."""
        self._severed = self._closing = True

    def flush(self) -> None:
        """The cable is back: everything that waits sets out again, as TCP would resend it."""
        for _ in self._waiting:
            self._set_out()

    def _send(self, data: bytes) -> None:
        if not self._severed:
            self._waiting.append(data)
            self._set_out()

    def _set_out(self) -> None:
        asyncio.get_running_loop().call_later(LATENCY_MS / 1000, self._arrive)

    def _arrive(self) -> None:
        # Timers of one instant fire in any order, so each delivers what has waited longest.
        if self.finished or self._severed or not self._cable.plugged or not self._waiting:
            return
        data = self._waiting.popleft()
        self._waiting_bytes -= len(data)
        if data:
            self.reader.feed_data(data)
        else:
            self.finished = True
            self.reader.feed_eof()


class SimNetwork:
    """Where one manager listens and tables connect."""

    def __init__(self) -> None:
        self._handler: Handler | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._pipes: list[tuple[Pipe, Pipe]] = []

    def listen(self, handler: Handler) -> None:
        self._handler = handler

    async def connect(self, cable: Cable) -> FrameStream:
        await cable.until_plugged()
        if self._handler is None:
            raise ConnectionRefusedError("no manager listens")
        upward, downward = Pipe(cable), Pipe(cable)
        self._pipes.append((upward, downward))
        task = asyncio.create_task(_serve(self._handler, upward, downward), name="sim-connection")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return FrameStream(downward.reader, upward)

    def sever(self, cable: Cable) -> None:
        """The unit on this cable lost power."""
        for upward, _ in self._pipes:
            if upward._cable is cable:  # noqa: SLF001 - one module, one secret
                upward.sever()
        self._pipes = [pair for pair in self._pipes if pair[0]._cable is not cable]  # noqa: SLF001

    async def close(self) -> None:
        """The manager is gone: every connection ends."""
        self._handler = None
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _, downward in self._pipes:
            downward.close()
        self._pipes = []


async def _serve(handler: Handler, upward: Pipe, downward: Pipe) -> None:
    await handler(upward.reader, downward)
