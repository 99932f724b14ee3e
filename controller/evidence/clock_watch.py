"""Notices when the machine's date jumps: it is compared with the running time, which cannot.

A correction of some milliseconds is what a time service does all day, and is not kept.
"""

from __future__ import annotations

from collections import deque

from hal import aio
from kit.clock import WallClock

JUMP_MIN_MS = 1500
JUMPS_KEPT = 20


class ClockWatch:
    def __init__(self, wall_ms: WallClock) -> None:
        self._wall_ms = wall_ms
        self._last = wall_ms(), aio.ticks_ms()
        # The date after each jump, and how far it went.
        self.jumps: deque[tuple[int, int]] = deque(maxlen=JUMPS_KEPT)

    def look(self) -> None:
        now_ms, ticks = self._wall_ms(), aio.ticks_ms()
        passed_ms = aio.ticks_diff(ticks, self._last[1])
        jump_ms = now_ms - self._last[0] - passed_ms
        self._last = now_ms, ticks
        if abs(jump_ms) >= JUMP_MIN_MS:
            self.jumps.append((now_ms, jump_ms))
