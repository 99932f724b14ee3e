"""One spot that is read every 10 ms, as its chip watch would while anything happens."""

from __future__ import annotations

from controller.core.sensing import Spot
from hal.aio import ticks_add

REFERENCE = 700
EMPTY_RAW = 699
CHIP_RAW = 641
EDGE_RAW = 680
HAND_RAW = 400
READ_EVERY_MS = 10


class Watched:
    """A spot with the usual figures: 60 counts a chip, 1 count of noise."""

    def __init__(self, now_ms: int = 0, raw: int = EMPTY_RAW) -> None:
        self.spot = Spot("3A")
        self.now_ms = now_ms
        self.raw = raw
        self.read()

    def read(self) -> bool:
        is_touched = REFERENCE - self.raw > 12
        return self.spot.reading(self.raw, REFERENCE, is_touched, None, self.now_ms)

    def put(self, raw: int) -> None:
        """The level jumps, and the touch bit tells of it."""
        self.raw = raw
        self.spot.touched(REFERENCE - raw > 12, self.now_ms)
        self.read()

    def pass_ms(self, duration_ms: int) -> None:
        for _ in range(duration_ms // READ_EVERY_MS):
            self.now_ms = ticks_add(self.now_ms, READ_EVERY_MS)
            self.read()

    def glitch(self, raw: int) -> None:
        """One reading that is wrong, and then the level is what it was."""
        true_raw, self.raw = self.raw, raw
        self.pass_ms(READ_EVERY_MS)
        self.raw = true_raw

    def creep(self, to_raw: int, duration_ms: int) -> None:
        """The level moves so slowly that nothing but warmth or damp can have done it."""
        from_raw, steps = self.raw, duration_ms // READ_EVERY_MS
        for step in range(1, steps + 1):
            self.raw = from_raw + round((to_raw - from_raw) * step / steps)
            self.pass_ms(READ_EVERY_MS)

    def verdict(self) -> int:
        return self.spot.verdict_at_lock(self.now_ms)

    def seen(self) -> tuple[str, bool]:
        return self.spot.presence, self.spot.confirmed


def with_chip(now_ms: int = 0) -> Watched:
    watched = Watched(now_ms)
    watched.pass_ms(1_000)
    watched.put(CHIP_RAW)
    watched.pass_ms(500)
    return watched
