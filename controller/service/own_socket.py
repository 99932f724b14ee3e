"""A question to the running table from whoever is the unit's own user: a socket in its folder.

It alone knows the socket. Folder and socket belong to the unit's user alone, so no PIN is asked:
who can open it could read the files as well. One question and one answer for each connection.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

log = logging.getLogger("controller.service.own_socket")

ONLY_OWN_USER = 0o600


async def serve_own(
    path: Path, reply: Callable[[bytes], Awaitable[bytes]], asked_bytes_max: int, patience_s: float
) -> None:
    """Until it is cancelled. A socket that a killed unit left behind is replaced."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(patience_s):
                writer.write(await reply(await reader.read(asked_bytes_max)))
                await writer.drain()
        except (OSError, TimeoutError) as error:
            log.warning("%s: not answered: %s", path.name, error or "it took too long")
        finally:
            writer.close()

    listener = _listen(path)
    try:
        async with await asyncio.start_unix_server(answer, sock=listener) as server:
            await server.serve_forever()
    finally:
        _remove(path)


def _listen(path: Path) -> socket.socket:
    _remove(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(ONLY_OWN_USER)
    return listener


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
