"""A unit's connection to the manager without a network, seen from the unit, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Ack, Error, Event, Message, Welcome, decode
from protocol.wire.stream import FrameStream
from sim.time.loop import run_virtual
from tests.kit.pretend_units import Desk, PretendUnit

M = TypeVar("M", bound=Message)
TABLE = "touch-1"


class HalfPipe:
    """A writer that feeds the other side's reader; `stalled` is a peer that does not read."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        self.stalled = False
        self.closed = False

    def write(self, data: bytes) -> None:
        if not self.closed:
            self.reader.feed_data(data)

    async def drain(self) -> None:
        if self.stalled:
            await asyncio.Event().wait()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.reader.feed_eof()

    async def wait_closed(self) -> None:
        await asyncio.sleep(0)


class Line:
    """One connection to the manager, seen from the unit."""

    arrivals = itertools.count(1)

    def __init__(self, desk: Desk, unit: PretendUnit) -> None:
        self.unit = unit
        self.up, self.down = HalfPipe(), HalfPipe()
        self.stream = FrameStream(self.down.reader, self.up)
        self.served = asyncio.create_task(
            desk.manager.server.serve_stream(self.up.reader, self.down, next(self.arrivals)),
            name="serve",
        )

    async def send(self, message: Message) -> None:
        await self.stream.write(message.encode())

    async def say(self, body: events.EventBody) -> Event:
        event = self.unit.make(body)
        await self.send(event)
        return event

    async def until_taken(self) -> None:
        """Everything said so far has its receipt."""
        while (await self.until(Ack)).last_sequence < self.unit.sequence:
            pass

    async def next(self) -> Message | None:
        payload = await self.stream.read()
        return decode(payload) if payload is not None else None

    async def until(self, kind: type[M]) -> M:
        """The next message of this kind; what comes before it is skipped."""
        while True:
            message = await self.next()
            assert message is not None, f"the line ended before a {kind.__name__}"
            if isinstance(message, kind):
                return message

    async def greet(self, settings_digest: bytes = b"") -> Welcome:
        await self.send(self.unit.hello(settings_digest=settings_digest))
        return await self.until(Welcome)

    async def until_end(self) -> list[Message]:
        rest: list[Message] = []
        while (message := await self.next()) is not None:
            rest.append(message)
        await self.served
        return rest

    async def hang_up(self) -> None:
        self.up.close()
        await self.served


def play(main: Callable[[Desk], Awaitable[None]]) -> None:
    async def run() -> None:
        desk = Desk()
        desk.open_table(TABLE, opening='"8000.00"')
        await main(desk)
        await desk.manager.close()

    run_virtual(run())


def open_line(desk: Desk, table_id: str = TABLE) -> Line:
    return Line(desk, desk.units[table_id])


async def last_error(line: Line) -> ErrorCode:
    *_, error = await line.until_end()
    assert isinstance(error, Error), error
    return ErrorCode(error.code)
