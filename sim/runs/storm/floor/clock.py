"""The wall clock of one machine on the floor. It may be wrong, and it may jump either way.

Virtual time itself never jumps; only what a machine takes for the date does.
"""

from __future__ import annotations

import asyncio

OPENING_WALL_MS = 1_767_268_800_000


class MachineClock:
    def __init__(self) -> None:
        self.offset_ms = 0

    def __call__(self) -> int:
        return OPENING_WALL_MS + now_ms() + self.offset_ms

    def jump(self, by_ms: int) -> None:
        # Never before 1970: a clock IC that lost its battery starts there.
        self.offset_ms = max(self.offset_ms + by_ms, -OPENING_WALL_MS)


def now_ms() -> int:
    """Virtual milliseconds since the floor opened."""
    return round(asyncio.get_running_loop().time() * 1e9) // 1_000_000
