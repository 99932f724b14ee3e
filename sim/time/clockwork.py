"""How time reaches the simulated hardware: one task that wakes when something happens next.

It alone knows when an IC, a finger or a line has its next moment, and runs them in a fixed order,
so a run repeats exactly. What the moments mean is decided by whoever wrote them down.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Collection
from itertools import count

from sim.hardware.i2c import SECOND_NS, loop_now_ns
from sim.hardware.ics.base import Ic

Action = Callable[[], None]


class Clockwork:
    """Advances the ICs to the loop's time and runs actions at their nanosecond."""

    def __init__(self) -> None:
        self._ics: Collection[Ic] = ()
        self._eventful: Collection[Ic] = ()  # those that may do something by themselves
        self._agenda: list[tuple[int, int, Action]] = []
        self._order = count()
        self._last_ns = 0
        self._task: asyncio.Task[None] | None = None
        self._sleeper: asyncio.Future[None] | None = None
        self._planned_ns: int | None = None  # when the sleeper wakes by itself

    def drive(self, ics: Collection[Ic]) -> None:
        """From now on these ICs live in the loop's time."""
        self._ics = ics
        self._eventful = [c for c in ics if type(c).next_event_ns is not Ic.next_event_ns]

    def now_ns(self) -> int:
        """The running loop's time; outside of a loop, the last time that was known."""
        try:
            self._last_ns = loop_now_ns()
        except RuntimeError:
            return self._last_ns
        return self._last_ns

    def at(self, at_ns: int, action: Action) -> None:
        """Actions due at the same time run in the order they were given."""
        heapq.heappush(self._agenda, (at_ns, next(self._order), action))
        self.wake()

    def wake(self) -> None:
        """Something changed: look again at what happens next."""
        if self._sleeper is not None and not self._sleeper.done():
            self._sleeper.set_result(None)

    def look(self) -> None:
        """An IC may have something new to come: wake only if that is before what is planned."""
        if self._sleeper is None or self._sleeper.done():
            return
        # Asked after each transfer on a bus. What the agenda holds has woken it by itself.
        planned_ns = self._planned_ns
        for ic in self._eventful:
            at_ns = ic.next_event_ns()
            if at_ns is not None and (planned_ns is None or at_ns < planned_ns):
                self.wake()
                return

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self.run(), name="world")

    async def stop(self) -> None:
        """Ends the task; if it had failed, this is where that is raised."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            [outcome] = await asyncio.gather(task, return_exceptions=True)
            if isinstance(outcome, Exception):
                raise outcome

    async def run(self) -> None:
        while True:
            self._settle()
            await self._sleep(self._next_ns())

    def _settle(self) -> None:
        now_ns = self.now_ns()
        for ic in self._ics:
            ic.advance(now_ns)
        while self._agenda and self._agenda[0][0] <= now_ns:
            heapq.heappop(self._agenda)[2]()

    def _next_ns(self) -> int | None:
        moments = [at for ic in self._eventful if (at := ic.next_event_ns()) is not None]
        if self._agenda:
            moments.append(self._agenda[0][0])
        return min(moments, default=None)

    async def _sleep(self, until_ns: int | None) -> None:
        loop = asyncio.get_running_loop()
        self._sleeper = loop.create_future()
        self._planned_ns = until_ns
        timer = None
        if until_ns is not None:
            timer = loop.call_at(until_ns / SECOND_NS, self.wake)
        try:
            await self._sleeper
        finally:
            self._sleeper = None
            if timer is not None:
                timer.cancel()
