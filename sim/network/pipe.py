"""One direction of one connection: bytes in order, with the writer's half of asyncio's interface.

It alone knows what has been written and not yet arrived. Delay, pieces and retries are drawn by the
weather it is given; whether the cable is plugged is asked of the cable.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

LATENCY_MS = 1
IN_FLIGHT_BYTES_MAX = 1 << 20
HIGH_WATER_BYTES = 1 << 16


class Weather(Protocol):
    """What the network does to bytes on their way."""

    slow_ms: float  # by how much later than usual a byte may come just now

    def latency_ms(self) -> float: ...

    def retry_ms(self) -> float:
        """How long after a cable is back one connection's resending sets out."""

    def pieces(self, data: bytes) -> list[bytes]: ...


class Calm:
    """Every write arrives whole, after one millisecond."""

    slow_ms = 0.0

    def latency_ms(self) -> float:
        return LATENCY_MS

    def retry_ms(self) -> float:
        return 0

    def pieces(self, data: bytes) -> list[bytes]:
        return [data]


class Wire(Protocol):
    """What a pipe asks of its cable."""

    plugged: bool
    weather: Weather


class Pipe:
    def __init__(
        self,
        cable: Wire,
        on_first_bytes: Callable[[], None] | None = None,
        on_arrival: Callable[[], None] | None = None,
    ) -> None:
        self.reader = asyncio.StreamReader()
        self.finished = False  # nothing will ever arrive again
        self.on_write: Callable[[bytes], None] | None = None
        self._cable = cable
        self._on_first_bytes = on_first_bytes
        self._on_arrival = on_arrival
        self._waiting: deque[tuple[float, bytes]] = deque()  # due time and bytes; b"" is the end
        self._waiting_bytes = 0
        self._last_due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._held = False
        self._closing = False
        self._severed = False
        self._room = asyncio.Event()

    # -- the writer's side -------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        if self._closing:
            raise ConnectionResetError("the connection is closed")
        self._waiting_bytes += len(data)
        if self._waiting_bytes > IN_FLIGHT_BYTES_MAX:
            raise ConnectionResetError("the network holds no more bytes for this connection")
        if self.on_write is not None:
            self.on_write(data)
        for piece in self._cable.weather.pieces(data):
            self._set_out(piece)

    async def drain(self) -> None:
        while self._waiting_bytes > HIGH_WATER_BYTES and not self.finished:
            self._room.clear()
            await self._room.wait()

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._set_out(b"")

    def is_closing(self) -> bool:
        return self._closing

    async def wait_closed(self) -> None:
        await asyncio.sleep(0)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return "simulated" if name == "peername" else default

    # -- what happens to it ------------------------------------------------------------------

    def sever(self, in_flight_arrives: bool = False) -> None:
        """The sender lost power: nothing more is sent, not even a goodbye."""
        self._closing = self._severed = True
        if not in_flight_arrives or not self._waiting:
            self._finish()

    def refuse(self) -> None:
        """The sender was told that the connection is gone; what it sent is on its way."""
        self._closing = True

    def break_off(self) -> None:
        """The reader is told that the connection is gone."""
        if not self.finished:
            self._finish()
            self.reader.set_exception(ConnectionResetError("the connection was reset"))

    def hold(self) -> None:
        """Nothing arrives until it is released; everything is kept in order."""
        self._held = True

    def release(self) -> None:
        self._held = False
        self.flush(0)

    def arrive_now(self) -> None:
        """Released, and everything sent so far is there at this very instant."""
        self._held = False
        self._deliver(float("inf"))
        self._arm()

    def flush(self, delay_ms: float) -> None:
        """The way is free: everything that waits sets out again, as TCP would resend it."""
        now = asyncio.get_running_loop().time()
        weather = self._cable.weather
        due = now + delay_ms / 1000
        resent: deque[tuple[float, bytes]] = deque()
        for _, data in self._waiting:
            due = max(due, now + (delay_ms + weather.latency_ms()) / 1000)
            resent.append((due, data))
        self._waiting = resent
        self._last_due = max(self._last_due, due) if resent else self._last_due
        self._arm()

    # -- on the wire -------------------------------------------------------------------------

    def _set_out(self, data: bytes) -> None:
        now = asyncio.get_running_loop().time()
        self._last_due = max(self._last_due, now + self._cable.weather.latency_ms() / 1000)
        self._waiting.append((self._last_due, data))
        if self._timer is None:
            self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and not self._is_blocked():
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(self._waiting[0][0], self._on_timer)

    def _is_blocked(self) -> bool:
        return self._held or not self._cable.plugged

    def _on_timer(self) -> None:
        self._timer = None
        if not self._is_blocked():
            self._deliver(asyncio.get_running_loop().time() + 1e-9)
            self._arm()

    def _deliver(self, until: float) -> None:
        if self._on_first_bytes is not None and self._waiting:
            first_bytes, self._on_first_bytes = self._on_first_bytes, None
            first_bytes()
        while self._waiting and self._waiting[0][0] <= until and not self.finished:
            _, data = self._waiting.popleft()
            self._waiting_bytes -= len(data)
            if data:
                self.reader.feed_data(data)
                if self._on_arrival is not None:
                    self._on_arrival()
            else:
                self._finish()
                self.reader.feed_eof()
        if self._severed and not self._waiting:
            self._finish()
        self._room.set()

    def _finish(self) -> None:
        self.finished = True
        self._closing = True
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._room.set()
