"""The card-swipe reader on a serial port: one result per swipe, good or bad.

It alone knows when a card has ended: a hand pauses less within one than between two. What is on the
card is `hal.devices.track2`'s business, and who the card belongs to, the manager's. The account is
never logged.
"""

from __future__ import annotations

import logging
from collections import Counter, deque

from hal.aio import ThreadSafeFlag, ticks_diff, ticks_ms, wait_for_ms
from hal.devices.serial_port import SerialPort
from hal.devices.track2 import BadSwipe, Swipe, Track2Parser

__all__ = ["BadSwipe", "CardReader", "Swipe"]

log = logging.getLogger("hal.devices.card_reader")

RESULT_COUNT_MAX = 8
# A hand never pauses this long within a card; a reader never pauses that long before its check.
GAP_MS = 300
CHECK_GAP_MS = 50
# A port that stays open and silent this long is really there again.
SETTLED_MS = 1000

UNPLUGGED = "reader unplugged"


class CardReader:
    """One reader, one consumer."""

    def __init__(self, path: str, baud: int = 9600, framing: str = "8N1") -> None:
        """`framing` is data bits, parity and stop bits, such as 7E1."""
        self._port = SerialPort("card reader", path, self._received, self._lost, baud, framing)
        self._parser = Track2Parser()
        self._results: deque[Swipe | BadSwipe] = deque()
        self._arrived = ThreadSafeFlag()
        self._last_byte_ticks = 0
        self._dropped_count = 0
        # For a person's eyes: how many swipes were read, and why others were not.
        self.read_count = 0
        self.unread: Counter[str] = Counter()

    async def read(self) -> Swipe | BadSwipe:
        """Waits for the next swipe. An unplugged reader is told once, then waited for."""
        while not self._results:
            if self._port.is_open:
                await self._wait_for_bytes()
            elif await self._port.open():
                self._parser.reset()
        return self._results.popleft()

    @property
    def plugged(self) -> bool:
        """The port is open; known only once `read` has been called."""
        return self._port.is_open

    def close(self) -> None:
        self._port.close()

    async def _wait_for_bytes(self) -> None:
        if self._parser.expects_more:
            wait_ms = max(0, self._gap_left_ms())
        elif not self._port.is_settled:
            wait_ms = SETTLED_MS
        else:
            await self._arrived.wait()
            return
        try:
            await wait_for_ms(self._arrived.wait(), wait_ms)
        except TimeoutError:
            self._silence()

    def _silence(self) -> None:
        if self._parser.expects_more:
            self._end_card_after_gap()
        elif self._port.is_open:
            self._port.settle()

    def _received(self, data: bytes) -> None:
        self._end_card_after_gap()
        self._last_byte_ticks = ticks_ms()
        for result in self._parser.feed(data):
            self._tell(result)
        self._arrived.set()

    def _lost(self, is_news: bool) -> None:
        self._parser.reset()
        if is_news:
            self._tell(BadSwipe(UNPLUGGED))
        self._arrived.set()

    def _end_card_after_gap(self) -> None:
        if self._parser.expects_more and self._gap_left_ms() <= 0:
            result = self._parser.gap()
            if result is not None:
                self._tell(result)

    def _gap_left_ms(self) -> int:
        limit_ms = CHECK_GAP_MS if self._parser.is_complete else GAP_MS
        return limit_ms - ticks_diff(ticks_ms(), self._last_byte_ticks)

    def _tell(self, result: Swipe | BadSwipe) -> None:
        if isinstance(result, Swipe):
            self.read_count += 1
        else:
            self.unread[result.reason] += 1
        if len(self._results) >= RESULT_COUNT_MAX:
            self._dropped_count += 1
            # At 1, 2, 4, 8 …: a reader that never stops must not fill the log either.
            if self._dropped_count & (self._dropped_count - 1) == 0:
                count = self._dropped_count
                log.warning("More swipes than are taken; a swipe was dropped, %d so far.", count)
            return
        self._results.append(result)
