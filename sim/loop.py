"""Virtual time: an event loop whose clock jumps to the next timer instead of waiting for it.

It alone knows the simulated nanosecond. Everything runs in one thread and in one order, so the same
inputs give the same run bit for bit; threads and executors are refused. Real files (a PTY) may be
watched; they are polled, never waited for. A run in which nothing can ever wake fails at once.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from contextvars import Context
from typing import Any, NoReturn, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
NANOSECONDS = 1_000_000_000


class NothingCanWake(RuntimeError):  # noqa: N818
    """Every task waits and no timer or file is left that could wake one."""


class TaskLeftBehind(AssertionError):  # noqa: N818
    """The main coroutine ended while a task it had started still ran."""


class _JumpingSelector(selectors.BaseSelector):
    """Polls the real files with no timeout, and lets the loop's clock jump instead of waiting."""

    def __init__(self, jump: Callable[[float | None], None]) -> None:
        self._jump = jump
        self._real = selectors.DefaultSelector()

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0) if self._real.get_map() else []
        if not ready and timeout != 0:
            self._jump(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """asyncio's own selector loop with the clock and the selector exchanged."""

    def __init__(self, start_ns: int = 0) -> None:
        self._now_ns = start_ns
        self._owner_thread_id = threading.get_ident()
        self.unhandled: list[dict[str, Any]] = []
        super().__init__(_JumpingSelector(self._jump))
        self.set_exception_handler(lambda _loop, context: self.unhandled.append(context))

    @property
    def now_ns(self) -> int:
        return self._now_ns

    def time(self) -> float:
        return self._now_ns / NANOSECONDS

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

    def _jump(self, timeout: float | None) -> None:
        if timeout is None:
            raise NothingCanWake(self._why_nothing_can_wake())
        # To the nearest nanosecond, so that a timer set in milliseconds lands on it exactly.
        self._now_ns += max(1, round(timeout * NANOSECONDS))

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
