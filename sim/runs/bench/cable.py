"""A network cable that can be pulled: a relay on loopback between the unit and its manager.

While it is out nothing passes in either direction and nothing is lost, as with real TCP; whether a
connection survives that long is for its two ends to decide.
"""

from __future__ import annotations

import asyncio
import contextlib

CHUNK_BYTES = 4096


class BenchCable:
    def __init__(self, manager_port: int) -> None:
        self._manager_port = manager_port
        self._plugged = asyncio.Event()
        self._plugged.set()
        self._relays: set[asyncio.Task[None]] = set()

    @property
    def plugged(self) -> bool:
        return self._plugged.is_set()

    def pull(self) -> None:
        self._plugged.clear()

    def plug(self) -> None:
        self._plugged.set()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the manager through the cable."""
        await self._plugged.wait()
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._manager_port)
        listening = asyncio.get_running_loop().create_future()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if not listening.done():
                listening.set_result((reader, writer))

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        try:
            port = server.sockets[0].getsockname()[1]
            near = await asyncio.open_connection("127.0.0.1", port)
            reader, writer = await listening
        finally:
            server.close()
        self._relay(reader, far_writer)
        self._relay(far_reader, writer)
        return near

    async def close(self) -> None:
        relays = list(self._relays)
        for relay in relays:
            relay.cancel()
        await asyncio.gather(*relays, return_exceptions=True)

    def _relay(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass_on(source, target), name="bench-cable")
        self._relays.add(task)
        task.add_done_callback(self._relays.discard)

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(CHUNK_BYTES):
                await self._plugged.wait()
                target.write(data)
                await target.drain()
        target.close()
