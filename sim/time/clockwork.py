"""How time reaches the simulated hardware: a timer for whatever happens next.

It alone knows when an IC, a finger or a line has its next moment, and runs them in a fixed order,
so a run repeats exactly. What the moments mean is decided by whoever wrote them down.
"""

from __future__ import annotations

import asyncio
import heapq
from asyncio import get_running_loop
from collections.abc import Callable, Collection, Iterable
from itertools import count

from sim.hardware.i2c import SECOND_NS, loop_now_ns
from sim.hardware.ics.base import Ic
from sim.time.loop import VirtualLoop

Action = Callable[[], None]


class Clockwork:
    """Advances the ICs to the loop's time and runs actions at their nanosecond."""

    def __init__(self) -> None:
        self._eventful: Collection[Ic] = ()  # those that may do something by themselves
        self._agenda: list[tuple[int, int, Action]] = []
        self._order = count()
        self._last_ns = 0
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # in which time passes now
        self._virtual: VirtualLoop | None = None  # the same, where its time is virtual
        self._failed: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._planned_ns: int | None = None  # when it rings
        self._is_awake = False  # a look at what happens next is due or under way

    def drive(self, ics: Collection[Ic]) -> None:
        """From now on these ICs live in the loop's time."""
        self._eventful = [c for c in ics if type(c).next_event_ns is not Ic.next_event_ns]

    def now_ns(self) -> int:
        """The running loop's time; outside of a loop, the last time that was known."""
        # Asked several times for each transfer, nearly always in virtual time.
        if self._virtual is not None:
            self._last_ns = self._virtual.now_ns
            return self._last_ns
        try:
            loop = get_running_loop()
        except RuntimeError:
            return self._last_ns
        if isinstance(loop, VirtualLoop):
            self._last_ns = loop.now_ns
        else:
            self._last_ns = loop_now_ns()
        return self._last_ns

    def at(self, at_ns: int, action: Action) -> None:
        """Actions due at the same time run in the order they were given."""
        heapq.heappush(self._agenda, (at_ns, next(self._order), action))
        self.wake()

    def wake(self) -> None:
        """Something changed: look again at what happens next."""
        if self._loop is not None and not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self._tick)

    def look(self, ics: Iterable[Ic]) -> None:
        """These may have something new to come: wake only if that is before what is planned."""
        if self._loop is None or self._is_awake:
            return
        # Asked after each transfer on a bus. What the agenda holds has woken it by itself.
        planned_ns = self._planned_ns
        for ic in ics:
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
        """Until it is cancelled; what fails in a moment of the hardware is raised here."""
        self._loop = asyncio.get_running_loop()
        self._virtual = self._loop if isinstance(self._loop, VirtualLoop) else None
        self._failed = self._loop.create_future()
        self._tick()
        try:
            await self._failed
        finally:
            self._loop = self._virtual = None
            self._is_awake = False
            self._disarm()

    def _ring(self) -> None:
        self._timer = None
        self._tick()

    def _tick(self) -> None:
        # No task is woken for it: wet felt has a moment every few milliseconds.
        loop, failed = self._loop, self._failed
        if loop is None or failed is None or failed.done():
            return
        self._disarm()
        self._is_awake = True
        try:
            self._settle()
        except Exception as error:  # noqa: BLE001 - raised where somebody waits for it
            failed.set_exception(error)
        self._is_awake = False
        until_ns = self._planned_ns = self._next_ns()
        if until_ns is not None:
            self._timer = loop.call_at(until_ns / SECOND_NS, self._ring)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _settle(self) -> None:
        now_ns = self.now_ns()
        for ic in self._eventful:  # the others live on when somebody asks them
            at_ns = ic.next_event_ns()
            if at_ns is not None and at_ns <= now_ns:
                ic.advance(now_ns)
        while self._agenda and self._agenda[0][0] <= now_ns:
            heapq.heappop(self._agenda)[2]()

    def _next_ns(self) -> int | None:
        moments = [at for ic in self._eventful if (at := ic.next_event_ns()) is not None]
        if self._agenda:
            moments.append(self._agenda[0][0])
        return min(moments, default=None)
