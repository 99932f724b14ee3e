"""How long the event loop was held up, and by whom: the longest stall and the callback it was in.

A heartbeat on the loop notices that it came late; a thread of its own looks at the loop's stack
meanwhile and so knows the name. Beyond those few beats a second a free loop pays nothing: no debug
mode, nothing around each callback. What a stall means for the table is decided elsewhere. Stalls
are of real time, so virtual time has none: there the clock and the sampling are handed in.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from asyncio import events
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from kit.clock import monotonic_s

log = logging.getLogger("hal.loop_watch")

BEAT_S = 0.025
# For a unit, whose stalls matter when a dealer could notice them.
UNIT_BEAT_S = 0.1
# Late by less is the machine's own scheduling.
STALL_MIN_S = 0.02
LOUD_MIN_S = 0.25
CULPRIT_CHARACTERS_MAX = 160
UNSEEN = "too short to be seen"
NO_CALLBACK = "no callback; the machine had no time for the loop"

HANDLE_RUN = events.Handle._run.__code__  # noqa: SLF001


@dataclass(frozen=True)
class Stall:
    """The loop was held for about this long (one beat more at most), in this callback."""

    duration_ms: int
    culprit: str


class LoopWatch:
    """`run` it as a task of the loop it watches; `longest` is the worst since `forget`."""

    def __init__(
        self,
        on_stall: Callable[[Stall], None] = lambda stall: None,
        clock_s: Callable[[], float] = monotonic_s,
        sampling: bool = True,
        beat_s: float = BEAT_S,
        stall_min_s: float = STALL_MIN_S,
    ) -> None:
        self.longest: Stall | None = None
        self.stall_count = 0
        self._on_stall = on_stall
        self._clock_s = clock_s
        self._sampling = sampling
        self._beat_s = beat_s
        self._stall_min_s = stall_min_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread_id = 0
        # Written on the loop, read by the sampler: when the next beat should have come.
        self._due_s = 0.0
        # Written by the sampler, read on the loop: (the beat it belongs to, who held the loop).
        self._seen: tuple[float, str] = (0.0, "")
        self._ended = threading.Event()

    async def run(self) -> None:
        """Watches until cancelled."""
        self._loop = asyncio.get_running_loop()
        self._loop_thread_id = threading.get_ident()
        self._due_s = self._clock_s() + self._beat_s
        sampler = threading.Thread(target=self._sample_for_ever, name="loop-watch", daemon=True)
        if self._sampling:
            sampler.start()
        try:
            while True:
                self._due_s = self._clock_s() + self._beat_s
                await asyncio.sleep(self._beat_s)
                self._judge(self._clock_s() - self._due_s)
        finally:
            self._ended.set()
            if self._sampling:
                sampler.join()

    def forget(self) -> None:
        """Begins a new period: the next stall is the longest again."""
        self.longest = None
        self.stall_count = 0

    def sample(self) -> str:
        """Who holds the loop at this moment; "" while the loop is not late. From any thread."""
        due_s = self._due_s
        if self._clock_s() - due_s < self._stall_min_s:
            return ""
        frame = sys._current_frames().get(self._loop_thread_id)  # noqa: SLF001
        culprit = _describe(frame, self._task_name())
        self._seen = (due_s, culprit)
        return culprit

    def _judge(self, late_s: float) -> None:
        if late_s < self._stall_min_s:
            return
        beat_s, culprit = self._seen
        stall = Stall(round(late_s * 1000), culprit if beat_s == self._due_s else UNSEEN)
        self.stall_count += 1
        if self.longest is None or stall.duration_ms > self.longest.duration_ms:
            self.longest = stall
        if late_s >= LOUD_MIN_S:
            log.warning("The loop was held for %d ms by %s.", stall.duration_ms, stall.culprit)
        self._on_stall(stall)

    def _sample_for_ever(self) -> None:
        while not self._ended.wait(self._beat_s):
            self.sample()

    def _task_name(self) -> str:
        task = asyncio.current_task(self._loop) if self._loop is not None else None
        return f"task {task.get_name()}" if task is not None else "a callback"


def _describe(frame: FrameType | None, who: str) -> str:
    """The task, the function the loop called, and where it is just now."""
    if frame is None:
        return who
    if frame.f_code is HANDLE_RUN:
        # What the loop called has no frame of its own: it is not written in Python.
        return f"{who}: {frame.f_locals['self']}"[:CULPRIT_CHARACTERS_MAX]
    outermost = innermost = frame
    while outermost.f_back is not None and outermost.f_back.f_code is not HANDLE_RUN:
        outermost = outermost.f_back
    if outermost.f_back is None:
        return NO_CALLBACK
    sentence = f"{who}: {_name(outermost)}"
    if innermost is not outermost:
        sentence += f", in {_name(innermost)} line {innermost.f_lineno}"
    return sentence[:CULPRIT_CHARACTERS_MAX]


def _name(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"
