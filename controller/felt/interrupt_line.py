"""Tells a sensing IC that calls from an interrupt line that somebody else holds low.

It alone knows the difference: an IC lets go of its line when its status is read, and whatever
calls anew makes an edge. A line that stays low through several reads without one calls for nothing;
to follow it would read the IC as fast as the bus can. Who waits for the line polls it instead.
"""

from __future__ import annotations

from collections.abc import Callable

from hal.aio import ticks_diff, ticks_ms
from hal.devices.lines import InputLine

# Each look follows a read of the status, which itself looks again while the line stays low.
LOOKS_MAX = 3
# A line that comes and goes is told once, not at each of its ways.
FREE_MS = 10_000


class InterruptLine:
    """Asked before each wait; `tell` is given a sentence when the line is held, "" when free."""

    def __init__(self, line: InputLine | None, ic_name: str, tell: Callable[[str], None]) -> None:
        self._line = line
        self._sentence = (
            f"Sensing IC {ic_name}: its interrupt line is held low. "
            "Chips are still seen, a little later; call service."
        )
        self._tell = tell
        self._edge_count = 0
        self._looks = 0
        self._held = False
        self._low_ms = 0
        self.is_low = False  # when it was last asked

    def is_usable(self) -> bool:
        """False when there is no line, or none that would tell anything."""
        if self._line is None:
            return False
        now_ms = ticks_ms()
        self.is_low = self._line.active
        if self.is_low:
            self._low_ms = now_ms
            self._look_at_low(self._line.edge_count)
        else:
            self._looks = 0
            if self._held and ticks_diff(now_ms, self._low_ms) >= FREE_MS:
                self._become(False)
        return not self._held

    def _look_at_low(self, edge_count: int) -> None:
        self._looks = self._looks + 1 if edge_count == self._edge_count else 1
        self._edge_count = edge_count
        if self._looks > LOOKS_MAX and not self._held:
            self._become(True)

    def _become(self, held: bool) -> None:
        self._held = held
        self._tell(self._sentence if held else "")
