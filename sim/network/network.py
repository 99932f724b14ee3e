"""The network between tables and their manager, in memory and in virtual time.

It alone knows which cable is plugged and what is still on the wire. As with TCP, the bytes of one
connection arrive in order and once, or not at all; a connection may be half-open, reset, or
overtaken by a later one. A unit that loses power says nothing more, so its peer learns of it only
by silence. What the bytes mean is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from protocol.wire.stream import FrameStream
from sim.network.pipe import LATENCY_MS, Calm, Pipe, Weather

__all__ = ["LATENCY_MS", "Cable", "Calm", "Connection", "Pipe", "SimNetwork", "Weather"]

Handler = Callable[[asyncio.StreamReader, Any], Awaitable[None]]
Tap = Callable[["Connection", bool, bytes], None]
Side = Literal["unit", "manager"]

CLEAR_AFTER_CONNECTIONS = 8


class Cable:
    """One table's network cable, and the weather on it."""

    def __init__(self, weather: Weather | None = None) -> None:
        self.plugged = True
        self.weather = weather or Calm()
        self.on_arrival: Callable[[], None] | None = None  # bytes have reached the unit
        self._pipes: list[Pipe] = []
        self._stale: list[Pipe] = []
        self._replugged = asyncio.Event()

    def pull(self) -> None:
        self.plugged = False
        self._replugged.clear()

    def plug(self) -> None:
        """Everything that waits sets out again, each connection when its own timer says so."""
        self.plugged = True
        self._replugged.set()
        for pipe in self._pipes:
            pipe.flush(self.weather.retry_ms())

    async def until_plugged(self) -> None:
        while not self.plugged:
            await self._replugged.wait()

    def attach(self, pipe: Pipe) -> None:
        self._pipes = [other for other in self._pipes if not other.finished]
        self._pipes.append(pipe)

    def delay_until_next_connection(self, pipe: Pipe) -> None:
        """A segment that took the long way: it arrives together with a later connection's first."""
        pipe.hold()
        self._stale.append(pipe)

    def first_bytes(self) -> None:
        """A new connection's first bytes are about to arrive."""
        stale, self._stale = self._stale, []
        for pipe in stale:
            pipe.arrive_now()


class Connection:
    """One TCP connection between a unit and the manager."""

    def __init__(self, cable: Cable, number: int) -> None:
        self.number = number
        self.cable = cable
        self.upward = Pipe(cable, cable.first_bytes)
        self.downward = Pipe(cable, on_arrival=cable.on_arrival)
        for pipe in (self.upward, self.downward):
            cable.attach(pipe)

    @property
    def finished(self) -> bool:
        return self.upward.finished and self.downward.finished

    def reset(self, side: Side) -> None:
        """One end learns that the connection is gone; the other may not."""
        if side == "unit":
            self.upward.refuse()
            self.downward.break_off()
        else:
            self.downward.refuse()
            self.upward.break_off()

    def lose_unit(self, in_flight_arrives: bool) -> None:
        self.upward.sever(in_flight_arrives)

    def lose_manager(self, in_flight_arrives: bool) -> None:
        self.downward.sever(in_flight_arrives)


class SimNetwork:
    """Where one manager listens and tables connect."""

    def __init__(self) -> None:
        self.tap: Tap | None = None
        self.answers = True  # False: nobody is there to refuse, and a caller waits in vain
        self._handler: Handler | None = None
        self._tasks: dict[asyncio.Task[None], None] = {}  # in order, so that runs repeat
        self._connections: list[Connection] = []
        self._count = 0

    def listen(self, handler: Handler) -> None:
        self._handler = handler
        self.answers = True

    async def connect(self, cable: Cable) -> FrameStream:
        await cable.until_plugged()
        if not self.answers:
            await asyncio.Event().wait()
        if self._handler is None:
            raise ConnectionRefusedError("no manager listens")
        connection = self._open(cable)
        served = _serve(self._handler, connection)
        task = asyncio.create_task(served, name="sim-connection")
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))
        return FrameStream(connection.downward.reader, connection.upward)

    def _open(self, cable: Cable) -> Connection:
        self._count += 1
        connection = Connection(cable, self._count)
        if self.tap is not None:
            tap = self.tap
            connection.upward.on_write = lambda data: tap(connection, True, data)
            connection.downward.on_write = lambda data: tap(connection, False, data)
        if len(self._connections) >= CLEAR_AFTER_CONNECTIONS:
            self._connections = [each for each in self._connections if not each.finished]
        self._connections.append(connection)
        return connection

    def connections(self, cable: Cable) -> list[Connection]:
        """The connections on a cable that at least one end still believes in, oldest first."""
        return [e for e in self._connections if e.cable is cable and not e.finished]

    def sever(self, cable: Cable, in_flight_arrives: bool = False) -> None:
        """The unit on this cable lost power."""
        for connection in self.connections(cable):
            connection.lose_unit(in_flight_arrives)
        self._connections = [each for each in self._connections if each.cable is not cable]

    def crash(self, silent: bool, in_flight_arrives: bool = False) -> list[asyncio.Task[None]]:
        """The manager is gone, now. Silent: its machine too, so no unit is told.

        The tasks that served it are cancelled; the caller awaits them.
        """
        self._handler = None
        self.answers = not silent
        for connection in self._connections:
            if silent:
                connection.lose_manager(in_flight_arrives)
            else:
                connection.downward.close()
                connection.lose_manager(in_flight_arrives=True)
        self._connections = []
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        return tasks

    async def close(self) -> None:
        """The manager is gone: every connection ends."""
        await asyncio.gather(*self.crash(silent=False), return_exceptions=True)


async def _serve(handler: Handler, connection: Connection) -> None:
    await handler(connection.upward.reader, connection.downward)
