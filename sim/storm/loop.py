"""Virtual time that can be struck between any two awaits.

It alone counts the loop's turns and runs an action at a chosen place of a chosen turn: "any await"
is a turn and a place in it. What strikes is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count

from sim.loop import VirtualLoop

Action = Callable[[], None]


class StormLoop(VirtualLoop):
    def __init__(self, start_ns: int = 0) -> None:
        self.turn_count = 0
        self.after_turn: Action | None = None
        self._strikes: list[tuple[int, int, int, Action]] = []
        self._order = count()
        super().__init__(start_ns)

    def strike_after(self, turns: int, action: Action, place: int = 0) -> None:
        """Runs `action` that many turns from now, before the `place`-th callback of its turn."""
        due = self.turn_count + turns
        heapq.heappush(self._strikes, (due, next(self._order), place, action))

    def call_off(self) -> None:
        """What was still to strike does not."""
        self._strikes.clear()

    def _run_once(self) -> None:
        while self._strikes and self._strikes[0][0] <= self.turn_count:
            _, _, place, action = heapq.heappop(self._strikes)
            place = min(place, len(self._ready))
            self._ready.insert(place, asyncio.Handle(action, (), self))
        super()._run_once()
        self.turn_count += 1
        if self.after_turn is not None:
            self.after_turn()
