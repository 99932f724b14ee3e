"""The way to a running table's bundle for whoever is the unit's own user: a socket in its folder.

It alone knows the socket. The folder and the socket belong to the unit's user alone, so no PIN is
asked: who can open it could read the files as well. What is sent first is the kernel's log, which
only root may read.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from controller.service.bundle.kernel_log import BYTES_MAX
from protocol.bundle.archive import BYTES_MAX as BUNDLE_BYTES_MAX

log = logging.getLogger("controller.service.bundle.door")

Make = Callable[[str, bytes | None], Awaitable[bytes]]
ASKED_BY = "somebody at the unit"
PATIENCE_S = 20.0
ONLY_OWN_USER = 0o600


def socket_path(data: Path) -> Path:
    return data / "bundle.sock"


async def serve_bundles(path: Path, make: Make) -> None:
    """Until it is cancelled. A socket that a killed unit left behind is replaced."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                kernel = await reader.read(BYTES_MAX)
                writer.write(await make(ASKED_BY, kernel or None))
                await writer.drain()
        except (OSError, TimeoutError) as error:
            log.warning("a bundle was not taken: %s", error or "nothing was asked in time")
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


def take_bundle(path: Path, kernel: bytes) -> bytes | None:
    """From the table that runs; None when none does."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(PATIENCE_S)
        try:
            line.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        line.sendall(kernel[-BYTES_MAX:])
        line.shutdown(socket.SHUT_WR)
        taken = bytearray()
        while len(taken) <= BUNDLE_BYTES_MAX:
            more = line.recv(65536)
            if not more:
                break
            taken += more
    return bytes(taken)
