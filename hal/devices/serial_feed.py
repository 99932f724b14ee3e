"""A serial line that only listens: bytes as they come, and word of a plug that was pulled.

It keeps what came until it is taken, up to a limit. A sender that never stops loses bytes, not the
unit. What the bytes mean is not known here.
"""

from __future__ import annotations

from hal.aio import ThreadSafeFlag
from hal.devices.serial_port import SerialPort

KEPT_BYTES_MAX = 8192


class SerialFeed:
    """One line, one consumer."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self._port = SerialPort(name, path, self._received, self._lost)
        self._arrived = ThreadSafeFlag()
        self._bytes = bytearray()
        self._is_news = False

    @property
    def plugged(self) -> bool:
        return self._port.is_open

    async def read(self) -> bytes:
        """The next bytes; none at all mean that the line was opened, or that it is gone."""
        while not self._bytes:
            if not self._port.is_open:
                if await self._port.open() or self._is_news:
                    self._is_news = False
                    return b""
            else:
                await self._arrived.wait()
                if not self._port.is_open and not self._bytes:
                    self._is_news = False
                    return b""
        taken, self._bytes = bytes(self._bytes), bytearray()
        return taken

    def close(self) -> None:
        self._port.close()

    def _received(self, data: bytes) -> None:
        self._port.settle()
        self._bytes += data[: KEPT_BYTES_MAX - len(self._bytes)]
        self._arrived.set()

    def _lost(self, is_news: bool) -> None:
        self._is_news = self._is_news or is_news
        self._arrived.set()
