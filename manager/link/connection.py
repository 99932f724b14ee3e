"""One unit's connection, outward: a bounded queue, heartbeats, and the meters as they are now.

Meters are not queued but marked as due, so a unit that falls behind gets one current value instead
of a row of old ones. A unit that does not take its frames in time is dropped, never buffered.
Nothing leaves before the transaction is durable on which it rests. What the messages mean is not
known here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from manager.ledger.store.store import Store
from manager.link.meter_frames import MeterFrame
from protocol.wire.messages import Heartbeat, Message
from protocol.wire.stream import FrameStream
from protocol.wire.version import HEARTBEAT_MS, LINK_DOWN_MS

QUEUE_MAX = 128
STATE = "serving"


class Connection:
    def __init__(
        self,
        stream: FrameStream,
        unit_id: str,
        table_id: str,
        meters: Callable[[], MeterFrame],
        store: Store,
    ) -> None:
        self._store = store
        self.stream = stream
        self.unit_id = unit_id
        self.table_id = table_id
        self.heard_s = 0.0  # when its last frame came, by the loop's clock; 0: none yet
        self.settings_digest = b""  # of those that the unit was told last
        self.unit_state = ""  # as the unit's last heartbeat said
        self.uncommitted_count = 0  # events read but not yet durable
        self.dropped = asyncio.Event()
        self._meters = meters
        self._queue: deque[tuple[int, Message]] = deque()  # with what each rests on
        self._meters_due = False
        self._finishing = False
        self._wake = asyncio.Event()

    def send(self, message: Message, rests_on: int | None = None) -> None:
        """Queues a message; too many waiting means the unit does not read, and drops it.

        It leaves when the transaction that it rests on is durable, by default the newest.
        """
        if len(self._queue) >= QUEUE_MAX:
            self.drop()
            return
        number = self._store.tail().number if rests_on is None else rests_on
        self._queue.append((number, message))
        self._wake.set()

    def send_meters(self) -> None:
        self._meters_due = True
        self._wake.set()

    def finish(self) -> None:
        """What is queued is still sent; then the connection ends."""
        self._finishing = True
        self._wake.set()

    def drop(self) -> None:
        """Ends the connection now."""
        self.dropped.set()

    async def send_forever(self) -> None:
        """Sends what is due until told to finish; returns early when the unit stops reading."""
        loop = asyncio.get_running_loop()
        next_beat = loop.time() + HEARTBEAT_MS / 1000
        try:
            while True:
                self._wake.clear()
                await self._send_due()
                if self._finishing and not self._queue:
                    return
                if await self._wake_or(next_beat):
                    continue
                next_beat += HEARTBEAT_MS / 1000
                self.send(Heartbeat(int(loop.time() * 1000), STATE), rests_on=0)
                self.send_meters()
        except TimeoutError:
            self.drop()

    async def _wake_or(self, deadline: float) -> bool:
        """True when there is something to send, False when the heartbeat is due."""
        try:
            async with asyncio.timeout_at(deadline):
                await self._wake.wait()
        except TimeoutError:
            return False
        return True

    async def _send_due(self) -> None:
        while self._queue:
            number, message = self._queue.popleft()
            await self._write(number, message.encode())
        if self._meters_due:
            self._meters_due = False
            await self._write(*self._meters())

    async def _write(self, number: int, payload: bytes) -> None:
        await self._store.commits.until_durable(number)
        async with asyncio.timeout(LINK_DOWN_MS / 1000):
            await self.stream.write(payload)
