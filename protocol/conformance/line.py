"""One connection as a case sees it: frames in, frames out, and raw bytes that no peer would send.

Every wait has an end, and what a case does not wait for is passed over only when it may come at any
time: heartbeats and meters.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TypeVar

from protocol.conformance.report import Broken, expect
from protocol.wire.errors import ErrorCode
from protocol.wire.framing import frame
from protocol.wire.messages import Error, Heartbeat, Message, Meters, decode
from protocol.wire.stream import FrameStream

UNKNOWN_KEY = 99  # of no message, and from 64 on: whoever does not know it passes it over

# Longer than the 5 s after which either end may call the other silent.
PATIENCE_S = 8.0
ANY_TIME = (Heartbeat, Meters)

M = TypeVar("M", bound=Message)


class Line:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self._stream = FrameStream(reader, writer)

    async def send(self, *messages: Message) -> None:
        for message in messages:
            await self.send_raw(frame(message.encode()))

    async def send_raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def payload(self, patience_s: float = PATIENCE_S) -> bytes | None:
        """The next frame's payload, None when the peer has hung up."""
        try:
            async with asyncio.timeout(patience_s):
                return await self._stream.read()
        except TimeoutError:
            raise Broken(f"nothing came for {patience_s:g} s") from None
        except ConnectionError:
            return None

    async def next(self, patience_s: float = PATIENCE_S) -> Message:
        """The next message that is neither heartbeat nor meters."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + patience_s
        while True:
            message = await self.anything(max(0.01, end_s - loop.time()))
            if not isinstance(message, ANY_TIME):
                return message

    async def anything(self, patience_s: float = PATIENCE_S) -> Message:
        payload = await self.payload(patience_s)
        if payload is None:
            raise Broken("it hung up")
        return decode(payload)

    async def expect(self, kind: type[M], patience_s: float = PATIENCE_S) -> M:
        """The next message, which has to be of this kind."""
        message = await self.next(patience_s)
        if not isinstance(message, kind):
            told = f" ({message.sentence})" if isinstance(message, Error) else ""
            raise Broken(f"{type(message).__name__}{told} came in place of {kind.__name__}")
        return message

    async def wait_for(self, kind: type[M], patience_s: float = PATIENCE_S) -> M:
        """The first message of this kind; what comes before it is passed over."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + patience_s
        while True:
            message = await self.anything(max(0.01, end_s - loop.time()))
            if isinstance(message, kind):
                return message

    async def expect_refusal(self, *codes: ErrorCode) -> None:
        """An Error with one of these codes, and then the end of the connection."""
        error = await self.wait_for(Error)
        while error.claim_number:  # the refusal of an earlier claim, told again
            error = await self.wait_for(Error)
        expect(error.code in codes, f"code {error.code} came in place of {codes[0].name}")
        await self.expect_end()

    async def expect_end(self, patience_s: float = PATIENCE_S) -> None:
        loop = asyncio.get_running_loop()
        end_s = loop.time() + patience_s
        while loop.time() < end_s:
            with contextlib.suppress(Broken):
                if await self.payload(max(0.01, end_s - loop.time())) is None:
                    return
        raise Broken(f"it did not hang up in {patience_s:g} s")

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()
