"""A network between a program and a server's socket that can go dead without telling anybody."""

from __future__ import annotations

import asyncio
from pathlib import Path


class BreakableLine:
    def __init__(self, to: Path) -> None:
        self._to = to
        self.is_cut = False  # what is sent arrives nowhere, and nobody hangs up
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> str:
        """As a part of a database's address."""
        assert self._server is not None
        return f"host=127.0.0.1&port={self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> BreakableLine:
        self._server = await asyncio.start_server(self._joined, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            self._keep(asyncio.create_task(_hold(writer)))
            return
        far_reader, far_writer = await asyncio.open_unix_connection(str(self._to))
        self._keep(asyncio.create_task(self._pass_on(reader, far_writer)))
        self._keep(asyncio.create_task(self._pass_on(far_reader, writer)))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                if not self.is_cut:
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)


async def _hold(writer: asyncio.StreamWriter) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        writer.close()
