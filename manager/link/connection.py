"""One unit's connection, outward: a bounded queue, heartbeats, and the meters as they are now.

Meters are not queued: a unit that falls behind gets one current value instead of a row of old
ones. What is due in one turn of the loop leaves in one write, without a task being woken for it. A
unit that does not take its frames in time is dropped, never buffered. Nothing leaves before the
transaction is durable on which it rests. What the messages mean is not known here.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque

from manager.ledger.engines.engine import StorageFailed
from manager.ledger.store.store import Store
from manager.link.meter_frames import MeterFrame, MeterFrames
from protocol.wire.errors import ProtocolError
from protocol.wire.framing import frame
from protocol.wire.messages import Heartbeat, Message, NumberedEncoder
from protocol.wire.rows import BundleWish, ProgramOffer, SpotHealth
from protocol.wire.stream import FrameStream
from protocol.wire.version import HEARTBEAT_MS, LINK_DOWN_MS

_log = logging.getLogger(__name__)

QUEUE_MAX = 128
STATE = "serving"
BEAT_S = HEARTBEAT_MS / 1000
# A beat that is due so soon goes out with amounts that go out anyway: one write instead of two. It
# is longer than the pause between two changes of the amounts, so that a floor at play has no other.
EARLY_S = 0.25
DRAIN_EVERY_BEATS = 4
_BEATS = NumberedEncoder(Heartbeat(0, STATE))
_NO_METERS = MeterFrame(0, b"")


class Connection:
    def __init__(
        self, stream: FrameStream, unit_id: str, table_id: str, meters: MeterFrames, store: Store
    ) -> None:
        self._store = store
        self._meters = meters
        self.stream = stream
        self.unit_id = unit_id
        self.table_id = table_id
        self.heard_s = 0.0  # when its last frame came, by the loop's clock; 0: none yet
        self.settings_digest = b""  # of those that the unit was told last
        self.unit_state = ""  # as the unit's last heartbeat said
        self.spots: tuple[SpotHealth, ...] = ()  # as it last said how they fare
        self.bundle_wishes: tuple[BundleWish, ...] = ()  # what our heartbeats ask it for
        self.offers: tuple[ProgramOffer, ...] = ()  # the program that our heartbeats offer it
        self.uncommitted_count = 0  # events read but not yet durable
        self.dropped = asyncio.Event()
        self._queue: deque[tuple[int, bytes]] = deque()  # with what each rests on
        self._shown = _NO_METERS  # that are due
        self._newest_shown = 0  # the transaction of the newest meters that were due
        self._shows_again = False  # they have changed since
        self._undrained_count = 0  # frames written since the unit's end of the line was ready
        self._is_pushing = False  # a push is due in this turn of the loop
        self._drain_by_s = 0.0  # when the unit must have taken what was written; 0: it need not
        self._beat_due = False
        self._beat_count = 0
        self._next_beat_s = math.inf  # by the loop's clock; none before `send_forever`
        self._awaits = 0  # the transaction that the next frame rests on; 0: none is awaited
        self._finishing = False
        self._wake = asyncio.Event()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def send(self, message: Message, rests_on: int | None = None) -> None:
        """Queues a message, which leaves when the transaction it rests on is durable.

        By default that is the newest one. Too many waiting means that the unit does not read, and
        drops it.
        """
        number = self._store.tail().number if rests_on is None else rests_on
        try:
            payload = message.encode()
        except ProtocolError:  # our own mistake: this unit is let go, and the others are served
            _log.exception("A message for %s fits no frame.", self.unit_id)
            self.drop()
            return
        self.send_encoded(payload, number)

    @property
    def is_quiet(self) -> bool:
        """Nothing waits for the unit to read it."""
        return not self._queue and not self._drain_by_s

    def send_encoded(self, payload: bytes, rests_on: int) -> None:
        if len(self._queue) >= QUEUE_MAX:
            self.drop()
            return
        self._queue.append((rests_on, payload))
        self._push_soon()

    def send_meters(self) -> None:
        """As memory has them now."""
        self.show(self._meters.of(self.table_id))

    def show(self, shown: MeterFrame) -> None:
        """The meters, in place of those that the unit did not get yet; older ones not at all.

        A large floor is told in parts, and a heartbeat may come before this unit's part.
        """
        if shown.number < self._newest_shown:
            return
        if self._shown.number <= self._store.commits.durable_tail.number:
            self._shown, self._newest_shown = shown, shown.number
            now_s = asyncio.get_running_loop().time()
            if now_s >= self._next_beat_s - EARLY_S and not self._drain_by_s:
                self._next_beat_s += BEAT_S
                self._queue_beat(now_s)
                if self._must_drain():
                    self._wake.set()
        else:  # it waits for its transaction; on a busy floor a newer one would wait for ever
            self._shows_again = True
        if not self._is_pushing:
            self._push()

    def finish(self) -> None:
        """What is queued is still sent; then the connection ends."""
        self._finishing = True
        self._push_soon()

    def drop(self) -> None:
        """Ends the connection now."""
        self.dropped.set()

    async def send_forever(self) -> None:
        """Until told to finish. It waits with the unit's end of the line; what is sent does not."""
        loop = asyncio.get_running_loop()
        self._next_beat_s = loop.time() + BEAT_S
        self._look_at(self._next_beat_s)
        self._listen(loop.time())
        try:
            while not self._finishing or self._queue:
                await self._wake.wait()
                self._wake.clear()
                self._say_what_is_due(loop.time())
                self._drain_by_s = loop.time() + LINK_DOWN_MS / 1000
                await self.stream.drain()
                self._drain_by_s, self._undrained_count = 0.0, 0
                self._push()
        finally:
            self.drop()  # nothing is written from here on
            for timer in self._timers.values():
                timer.cancel()

    # -- inside ------------------------------------------------------------------------------

    def _say_what_is_due(self, now_s: float) -> None:
        if self._beat_due:
            self._queue_beat(now_s)
        if self._beat_due or self._shows_again:
            self._beat_due = self._shows_again = False
            self.send_meters()

    def _queue_beat(self, now_s: float) -> None:
        now_ms = int(now_s * 1000)
        if self.bundle_wishes or self.offers:
            beat = Heartbeat(now_ms, STATE, bundle=self.bundle_wishes, offer=self.offers)
            self.send(beat, rests_on=0)
        else:
            self.send_encoded(_BEATS.of(now_ms), rests_on=0)

    def _push_soon(self) -> None:
        if not self._is_pushing:
            self._is_pushing = True
            asyncio.get_running_loop().call_soon(self._push)

    def _push(self) -> None:
        """Writes what is due and durable; the rest when its transaction or the unit is ready."""
        self._is_pushing = False
        if self._drain_by_s or self.dropped.is_set():
            return
        frames = self._due()
        try:
            if frames:
                self.stream.write_frames(frames)
        except OSError:  # it is gone
            self.drop()
        self._undrained_count += len(frames)
        if self._undrained_count >= QUEUE_MAX or (self._finishing and not self._queue):
            self._wake.set()
        waiting = self._queue[0][0] if self._queue else self._shown.number
        if waiting > self._store.commits.durable_tail.number and waiting != self._awaits:
            self._awaits = waiting
            self._store.commits.when_durable(self._push_soon, waiting)

    def _due(self) -> list[bytes]:
        durable, frames = self._store.commits.durable_tail.number, []
        while self._queue and self._queue[0][0] <= durable:
            frames.append(frame(self._queue.popleft()[1]))
        number, payload = self._shown
        if payload and number <= durable and not self._queue:
            frames.append(frame(payload))
            self._shown = _NO_METERS
            if self._shows_again:
                self._wake.set()
        return frames

    def _look(self, at_s: float) -> None:
        """Heartbeat and meters each second, and a look whether the unit takes what it gets."""
        if 0.0 < self._drain_by_s <= at_s:
            self.drop()
            return
        if at_s >= self._next_beat_s:  # it did not go out with amounts
            self._next_beat_s = at_s + BEAT_S
            self._beat_due = True
            self._beat(at_s)
        self._look_at(self._next_beat_s)

    def _beat(self, now_s: float) -> None:
        """Without waking a task each time; now and then it waits for the unit's end of the line."""
        if self._must_drain() or self._drain_by_s:
            self._wake.set()
            return
        try:
            self._say_what_is_due(now_s)
        except StorageFailed:
            # Whoever serves the unit hears of it: its task meets the same.
            self._shows_again = True
            self._wake.set()

    def _must_drain(self) -> bool:
        """For the first beat, and then for each so many."""
        self._beat_count += 1
        return self._beat_count % DRAIN_EVERY_BEATS == 1

    def _look_at(self, at_s: float) -> None:
        loop = asyncio.get_running_loop()
        self._timers["beat"] = loop.call_at(at_s, self._look, at_s)

    def _listen(self, begun_s: float) -> None:
        """A unit that says nothing for too long is dropped."""
        loop = asyncio.get_running_loop()
        until_s = max(self.heard_s, begun_s) + LINK_DOWN_MS / 1000
        if loop.time() >= until_s:
            self.drop()
            return
        # Not set anew at each frame: it looks when the last one was heard, and waits for the rest.
        self._timers["listen"] = loop.call_at(until_s, self._listen, begun_s)
