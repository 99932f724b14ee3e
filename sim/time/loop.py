"""Virtual time: an event loop whose clock jumps to the next timer instead of waiting for it.

It alone knows the simulated nanosecond. Everything runs in one thread and in one order, so the same
inputs give the same run bit for bit; threads and executors are refused. Real files (a PTY) may be
watched; they are polled, never waited for. A run in which nothing can ever wake fails at once.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, NoReturn, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
NANOSECONDS = 1_000_000_000
CANCELLED_TIMERS_MAX = 512


class NothingCanWake(RuntimeError):  # noqa: N818
    """Every task waits and no timer or file is left that could wake one."""


class TaskLeftBehind(AssertionError):  # noqa: N818
    """The main coroutine ended while a task it had started still ran."""


class PolledSelector(selectors.PollSelector):
    """Looks at the real files without waiting.

    poll() rather than epoll(): it asks each file itself, in the order they were registered. An
    event list is filled by other threads of the kernel, so it would depend on the machine's load.
    """

    _fd_to_key: dict[int, selectors.SelectorKey]  # the library's own; its view of it is slow

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(0) if self._fd_to_key else []


class _Handle(asyncio.Handle):
    """asyncio's own, without asking for each one whether the loop is debugged."""

    __slots__ = ()

    def __init__(
        self,
        callback: Callable[..., object],
        args: Sequence[Any],
        loop: asyncio.AbstractEventLoop,
        context: Context | None = None,
    ) -> None:
        self._context = copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = None
        self._source_traceback = None


class _Timer(asyncio.TimerHandle):
    """The same for timers. Written out: each wait of each task makes one."""

    __slots__ = ()

    def __init__(
        self,
        when: float,
        callback: Callable[..., object],
        args: Sequence[Any],
        loop: asyncio.AbstractEventLoop,
        context: Context | None = None,
    ) -> None:
        self._context = copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = None
        self._source_traceback = None
        self._when = when
        self._scheduled = False


class VirtualLoop(asyncio.SelectorEventLoop):
    """asyncio's own selector loop with clock, selector and the order of timers exchanged.

    Timers are kept by their nanosecond, and those of the same one run in the order they were set;
    asyncio leaves that open. Files are looked at when nothing else is left to do at this instant.
    """

    # asyncio's own, which its declarations leave out.
    _ready: deque[asyncio.Handle]
    _stopping: bool
    _closed: bool
    _selector: selectors.BaseSelector

    def __init__(self, start_ns: int = 0, selector: PolledSelector | None = None) -> None:
        self.now_ns = start_ns  # read by everybody, moved by this class alone
        self._owner_thread_id = threading.get_ident()
        self._timers: list[tuple[int, int, asyncio.TimerHandle]] = []
        self._timer_order = count()
        self._cancelled_timers = 0
        self.unhandled: list[dict[str, Any]] = []
        super().__init__(selector or PolledSelector())
        self.set_exception_handler(lambda _loop, context: self.unhandled.append(context))

    def time(self) -> float:
        return self.now_ns / NANOSECONDS

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        if threading.get_ident() != self._owner_thread_id:
            raise RuntimeError("Another thread called into virtual time, which has one thread.")
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> NoReturn:
        raise RuntimeError(
            f"Virtual time has no threads, so it cannot run {func!r} in an executor."
        )

    def hold(self, seconds: float) -> None:
        """A callback computes for so long: everything that is due meanwhile comes late."""
        self.now_ns += round(seconds * NANOSECONDS)

    # -- timers and turns --------------------------------------------------------------------

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        if self._closed:
            self._check_closed()  # type: ignore[attr-defined]
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        when = self.now_ns / NANOSECONDS + delay
        return self.call_at(when, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        if self._closed:
            self._check_closed()  # type: ignore[attr-defined]
        timer = _Timer(when, callback, args, self, context)
        # To the nearest nanosecond, so that a timer set in milliseconds lands on it exactly.
        due_ns = round(when * NANOSECONDS)
        if due_ns <= self.now_ns and when > self.now_ns / NANOSECONDS:
            due_ns = self.now_ns + 1  # what is not yet is later: who waits for the rest gets on
        heappush(self._timers, (due_ns, next(self._timer_order), timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self._cancelled_timers += 1
        if self._cancelled_timers > CANCELLED_TIMERS_MAX:
            # Whoever waits with a timeout leaves a timer behind; most of a heap would be those.
            self._timers = [timer for timer in self._timers if not timer[2].cancelled()]
            heapify(self._timers)
            self._cancelled_timers = 0

    def _run_once(self) -> None:
        """One turn: what is ready by now, and nothing of what that makes ready."""
        ready = self._ready
        if not (ready or self._stopping):
            if events := self._selector.select(0):
                self._process_events(events)  # type: ignore[attr-defined]
            if not ready:
                self._jump()
        now_ns, timers = self.now_ns, self._timers
        while timers and timers[0][0] <= now_ns:
            ready.append(heappop(timers)[2])
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:  # noqa: SLF001
                handle._run()  # noqa: SLF001
            # On Python 3.13 a failed task's traceback keeps this frame, which would keep the task:
            # one that failed unawaited would not be told of before the next collection.
            del handle

    def _jump(self) -> None:
        """To the next timer."""
        timers = self._timers
        while timers and timers[0][2].cancelled():
            heappop(timers)
        if not timers:
            raise NothingCanWake(self._why_nothing_can_wake())
        self.now_ns = max(self.now_ns, timers[0][0])

    def _why_nothing_can_wake(self) -> str:
        names = sorted(task_label(task) for task in asyncio.all_tasks(self))
        return f"Nothing can ever wake at {self.time():.6f} s; waiting: {', '.join(names)}."

    # No other thread may wake this loop, so it needs no pipe to itself.
    def _make_self_pipe(self) -> None:
        pass

    def _close_self_pipe(self) -> None:
        pass


def task_label(task: asyncio.Task[Any]) -> str:
    """The task's name and the coroutine it runs, for a sentence."""
    coroutine = task.get_coro()
    return f"{task.get_name()} ({getattr(coroutine, '__qualname__', coroutine)})"


def run_virtual(coroutine: Coroutine[Any, Any, T], start_ns: int = 0) -> T:
    """Runs `coroutine` to its end in a new VirtualLoop.

    Fails if it leaves a task behind or if an exception found nobody to handle it.
    """
    loop = VirtualLoop(start_ns)
    try:
        result = loop.run_until_complete(coroutine)
        _refuse_leftovers(loop)
        return result
    finally:
        _close(loop)


def _refuse_leftovers(loop: VirtualLoop) -> None:
    left = sorted(task_label(task) for task in asyncio.all_tasks(loop))
    if left:
        raise TaskLeftBehind(f"Left behind; cancel and await before the end: {', '.join(left)}.")
    for context in loop.unhandled:
        raise context.get("exception") or RuntimeError(context["message"])


def _close(loop: VirtualLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    try:
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
