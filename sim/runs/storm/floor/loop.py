"""Virtual time that can be struck between any two awaits.

It alone counts the loop's turns and runs an action at a chosen place of a chosen turn: "any await"
is a turn and a place in it. What strikes is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count
from selectors import SelectorKey
from typing import Any, NoReturn

from sim.hardware.serial_line import SerialLine
from sim.time.loop import PolledSelector, VirtualLoop, task_label

Action = Callable[[], None]

TURNS_PER_INSTANT_MAX = 50_000


class TimeStandsStill(RuntimeError):  # noqa: N818
    """Something is always ready again at once, so no timer is ever reached."""


class _LinesAlone(PolledSelector):
    """All files of a storm are serial lines: where nothing was done to one, nothing is new."""

    def __init__(self) -> None:
        super().__init__()
        self._seen_count = -1

    def register(self, *values: Any) -> SelectorKey:
        self._seen_count = -1
        return super().register(*values)

    def modify(self, *values: Any) -> SelectorKey:
        self._seen_count = -1
        return super().modify(*values)

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        if self._seen_count == SerialLine.change_count:
            return []
        found = super().select(timeout)
        if not found:
            self._seen_count = SerialLine.change_count
        return found


class StormLoop(VirtualLoop):
    def __init__(self, start_ns: int = 0) -> None:
        self.turn_count = 0
        self.after_turn: Action | None = None
        self._strikes: list[tuple[int, int, int, Action]] = []
        self._order = count()
        self._instant_turn = 0  # the turn in which the present instant began
        super().__init__(start_ns, _LinesAlone())

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
        if self.turn_count - self._instant_turn > TURNS_PER_INSTANT_MAX:
            self._say_standstill()
        if self.after_turn is not None:
            self.after_turn()

    def _jump(self) -> None:
        before_ns = self.now_ns
        super()._jump()
        if self.now_ns != before_ns:
            self._instant_turn = self.turn_count

    def _say_standstill(self) -> NoReturn:
        names = sorted(task_label(task) for task in asyncio.all_tasks(self))
        raise TimeStandsStill(f"At {self.time():.6f} s time stands still: {', '.join(names)}.")
