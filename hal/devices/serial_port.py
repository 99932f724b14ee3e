"""A serial port that comes back: opened, read when there is something, and opened again.

It alone knows the port. It notices when the plug is pulled, tells it once, and tries again with
growing pauses. What the bytes mean is not known here.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable

import serial

from hal.aio import sleep_ms

log = logging.getLogger("hal.devices.serial_port")

READ_BYTES_MAX = 512
REOPEN_MS_MIN = 250
REOPEN_MS_MAX = 5000
WRITE_WAIT_S = 2.0


class SerialPort:
    def __init__(
        self,
        name: str,
        path: str,
        received: Callable[[bytes], None],
        lost: Callable[[bool], None],
        baud: int = 9600,
        framing: str = "8N1",
    ) -> None:
        """`lost` hears whether that is news. `framing` is data bits, parity and stop bits: 7E1."""
        self._name = name
        self._path = path
        self._received = received
        self._lost = lost
        self._baud = baud
        self._framing = framing
        self._port: serial.Serial | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_loss_told = False
        self._reopen_ms = 0

    @property
    def is_open(self) -> bool:
        return self._port is not None

    @property
    def is_settled(self) -> bool:
        """It was not lost, or `settle` was called since."""
        return not self._reopen_ms

    def settle(self) -> None:
        """It is really there again: the next loss is news, and the next try comes at once."""
        self._is_loss_told = False
        self._reopen_ms = 0

    async def open(self) -> bool:
        """Tries once, after the pause that is due."""
        if self._reopen_ms:
            await sleep_ms(self._reopen_ms)
        try:
            self._port = serial.Serial(
                self._path,
                baudrate=self._baud,
                bytesize=int(self._framing[0]),
                parity=self._framing[1],
                stopbits=int(self._framing[2]),
                timeout=0,
                exclusive=True,
            )
        except OSError as error:
            self._note_loss(str(error.strerror or "it cannot be opened"))
            return False
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._port.fileno(), self._receive)
        return True

    async def write(self, data: bytes) -> None:
        """Waits while the line is full. A line that takes nothing for a while raises TimeoutError,
        and one that is gone ConnectionError.
        """
        while data:
            if self._port is None:
                raise ConnectionError(f"the {self._name} is unplugged")
            try:
                data = data[os.write(self._port.fileno(), data) :]
            except BlockingIOError:
                await self._writable(self._port.fileno())
            except OSError as error:
                self.close()
                self._note_loss(str(error.strerror or "it no longer answers"))

    async def _writable(self, descriptor: int) -> None:
        loop, is_free = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(descriptor, is_free.set)
        try:
            async with asyncio.timeout(WRITE_WAIT_S):
                await is_free.wait()
        finally:
            loop.remove_writer(descriptor)

    def close(self) -> None:
        if self._port is None:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._port.fileno())
        self._port.close()
        self._port = None

    def _receive(self) -> None:
        # Called by the loop when the port is readable, whether or not anybody waits for bytes.
        if self._port is None:
            return
        try:
            data = self._port.read(READ_BYTES_MAX)
        except OSError as error:
            self.close()
            self._note_loss(str(error.strerror or "it no longer answers"))
            return
        self._received(data)

    def _note_loss(self, why: str) -> None:
        self._reopen_ms = min(REOPEN_MS_MAX, max(REOPEN_MS_MIN, 2 * self._reopen_ms))
        is_news, self._is_loss_told = not self._is_loss_told, True
        if is_news:
            log.warning("The %s at %s is unplugged: %s.", self._name, self._path, why)
        self._lost(is_news)
