"""The card-swipe reader on a serial port: one result per swipe, good or bad.

It alone knows the port: it opens it, notices when it is unplugged, and opens it again with growing
pauses. What is on the card is `hal.track2`'s business, and who the card belongs to, the manager's.
The account is never logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque

import serial

from hal.aio import ThreadSafeFlag, sleep_ms, ticks_diff, ticks_ms, wait_for_ms
from hal.track2 import BadSwipe, Swipe, Track2Parser

__all__ = ["BadSwipe", "CardReader", "Swipe"]

log = logging.getLogger("hal.card_reader")

READ_BYTES_MAX = 256
RESULT_COUNT_MAX = 8
# A hand never pauses this long within a card; a reader never pauses that long before its check.
GAP_MS = 300
CHECK_GAP_MS = 50
REOPEN_MS_MIN = 250
REOPEN_MS_MAX = 5000
# A port that stays open and silent this long is really there again.
SETTLED_MS = 1000

UNPLUGGED = "reader unplugged"


class CardReader:
    """One reader, one consumer."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._parser = Track2Parser()
        self._results: deque[Swipe | BadSwipe] = deque()
        self._arrived = ThreadSafeFlag()
        self._last_byte_ticks = 0
        self._port: serial.Serial | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loss_told = False
        self._reopen_ms = 0
        self._dropped_count = 0

    async def read(self) -> Swipe | BadSwipe:
        """Waits for the next swipe. An unplugged reader is told once, then waited for."""
        while not self._results:
            if self._port is None:
                await self._open()
            else:
                await self._wait_for_bytes(self._port)
        return self._results.popleft()

    @property
    def plugged(self) -> bool:
        """The port is open; known only once `read` has been called."""
        return self._port is not None

    def close(self) -> None:
        if self._port is None:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._port.fileno())
        self._port.close()
        self._port = None

    async def _open(self) -> None:
        if self._reopen_ms:
            await sleep_ms(self._reopen_ms)
        try:
            self._port = serial.Serial(self._path, timeout=0, exclusive=True)
        except OSError as error:
            self._note_loss(str(error.strerror or "it cannot be opened"))
            return
        self._parser.reset()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._port.fileno(), self._receive)

    async def _wait_for_bytes(self, port: serial.Serial) -> None:
        if self._parser.expects_more:
            wait_ms = max(0, self._gap_left_ms())
        elif self._reopen_ms:
            wait_ms = SETTLED_MS
        else:
            await self._arrived.wait()
            return
        try:
            await wait_for_ms(self._arrived.wait(), wait_ms)
        except TimeoutError:
            self._silence(port)

    def _silence(self, port: serial.Serial) -> None:
        if self._parser.expects_more:
            self._end_card_after_gap()
        elif self._port is port:
            self._loss_told = False
            self._reopen_ms = 0

    def _receive(self) -> None:
        # Called by the loop when the port is readable, whether or not anybody waits in `read`.
        if self._port is None:
            return
        try:
            data = self._port.read(READ_BYTES_MAX)
        except OSError as error:
            self.close()
            self._note_loss(str(error.strerror or "it no longer answers"))
            return
        self._end_card_after_gap()
        self._last_byte_ticks = ticks_ms()
        for result in self._parser.feed(data):
            self._tell(result)
        self._arrived.set()

    def _end_card_after_gap(self) -> None:
        if self._parser.expects_more and self._gap_left_ms() <= 0:
            result = self._parser.gap()
            if result is not None:
                self._tell(result)

    def _gap_left_ms(self) -> int:
        limit_ms = CHECK_GAP_MS if self._parser.is_complete else GAP_MS
        return limit_ms - ticks_diff(ticks_ms(), self._last_byte_ticks)

    def _note_loss(self, why: str) -> None:
        self._reopen_ms = min(REOPEN_MS_MAX, max(REOPEN_MS_MIN, 2 * self._reopen_ms))
        self._parser.reset()
        if not self._loss_told:
            self._loss_told = True
            log.warning("The card reader at %s is unplugged: %s.", self._path, why)
            self._tell(BadSwipe(UNPLUGGED))
        self._arrived.set()

    def _tell(self, result: Swipe | BadSwipe) -> None:
        if len(self._results) >= RESULT_COUNT_MAX:
            self._dropped_count += 1
            # At 1, 2, 4, 8 …: a reader that never stops must not fill the log either.
            if self._dropped_count & (self._dropped_count - 1) == 0:
                count = self._dropped_count
                log.warning("More swipes than are taken; a swipe was dropped, %d so far.", count)
            return
        self._results.append(result)
