"""CPython's half of `hal.aio`: asyncio, spoken with MicroPython's names and meanings.

Import `hal.aio`, never this module. Time comes from the running loop, so a virtual-time loop
moves the ticks as well.
"""

from __future__ import annotations

import asyncio
import builtins
import threading
import time
from asyncio import (
    CancelledError,
    Lock,
    TimeoutError,  # noqa: A004 - the name MicroPython gives it
    gather,
    get_running_loop,
    run,
)
from collections.abc import Awaitable, Coroutine
from typing import Any, Generic, TypeVar

__all__ = [
    "Boxed",
    "CancelledError",
    "Event",
    "Item",
    "Lock",
    "ThreadSafeFlag",
    "TimeoutError",
    "create_task",
    "gather",
    "run",
    "sleep",
    "sleep_ms",
    "ticks_add",
    "ticks_diff",
    "ticks_ms",
    "wait_for",
    "wait_for_ms",
    "wait_set_ms",
]

T = TypeVar("T")
Item = TypeVar("Item")

# MicroPython's ticks wrap at 2**30; wrapping here too makes the tests meet the wrap.
TICKS_PERIOD = 1 << 30
TICKS_HALF = TICKS_PERIOD >> 1
DELAY_END_MS = TICKS_HALF >> 1  # three days


class Boxed(Generic[Item]):
    """What makes `Mailbox[Frame]` mean something to a type checker."""


class Task(asyncio.Task[T]):
    def cancel(self, msg: Any | None = None) -> bool:
        """As MicroPython has it: a task that wants to end returns."""
        if self is asyncio.current_task(self.get_loop()):  # asked by a loop that stops, too
            raise RuntimeError("can't cancel self")
        return super().cancel(msg)


def create_task(coro: Coroutine[Any, Any, T], name: str | None = None) -> Task[T]:
    return Task(coro, loop=asyncio.get_running_loop(), name=name)


async def sleep(delay_s: float) -> None:
    _not_too_far(int(delay_s * 1000))
    await asyncio.sleep(delay_s)  # finer than MicroPython's milliseconds


async def sleep_ms(delay_ms: int) -> None:
    if delay_ms <= 0:
        await asyncio.sleep(0)
        return
    # asyncio.sleep, without calling off a timer that has rung.
    loop = get_running_loop()
    rung: asyncio.Future[None] = loop.create_future()
    timer = loop.call_later(_not_too_far(delay_ms) / 1000, _ring, rung)
    try:
        await rung
    except BaseException:
        timer.cancel()
        raise


def _ring(rung: asyncio.Future[Any]) -> None:
    if not rung.done():
        rung.set_result(None)


async def wait_for(awaitable: Awaitable[T], timeout: float | None) -> T:
    if timeout is None:
        return await awaitable
    return await wait_for_ms(awaitable, int(timeout * 1000))


async def wait_for_ms(awaitable: Awaitable[T], timeout_ms: int) -> T:
    """Whatever the awaitable makes of its cancellation, time that is over is a TimeoutError, and a
    cancellation from outside stays one. It returns only when the awaitable has ended."""
    # As asyncio.timeout does it, and not as asyncio.wait_for: before 3.12 the latter could lose a
    # result that arrived together with a cancellation. Written out: every idle task waits here.
    task = asyncio.current_task()
    assert task is not None
    asked_before = task.cancelling()
    deadline = _Deadline(task)
    timer = get_running_loop().call_later(_not_too_far(timeout_ms) / 1000, deadline.passes)
    try:
        result = await awaitable
    except BaseException as error:
        timer.cancel()
        if not deadline.passed:
            raise
        asked_after = task.uncancel()
        if isinstance(error, CancelledError):
            if asked_after > asked_before:
                raise
        elif not isinstance(error, Exception):
            raise
        raise builtins.TimeoutError from error
    timer.cancel()
    if deadline.passed:
        task.uncancel()
        raise builtins.TimeoutError
    if task.cancelling() > asked_before:
        raise CancelledError
    return result


class _Deadline:
    """Cancels a task when the time is over."""

    __slots__ = ("_task", "passed")

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self.passed = False

    def passes(self) -> None:
        self.passed = True
        self._task.cancel()


class Event(asyncio.Event):
    async def wait_ms(self, timeout_ms: int) -> bool:
        """What `wait_set_ms` says, without a cancellation for each time that is over."""
        if self.is_set():
            return True
        loop = get_running_loop()
        rung: asyncio.Future[bool] = loop.create_future()
        self._waiters.append(rung)
        timer = loop.call_later(_not_too_far(timeout_ms) / 1000, _ring, rung)
        try:
            await rung
        finally:
            timer.cancel()
            self._waiters.remove(rung)
        return self.is_set()


async def wait_set_ms(event: Event | ThreadSafeFlag, timeout_ms: int) -> bool:
    """Waits until it is set, or so long. True: it was set."""
    return await event.wait_ms(timeout_ms)


def _not_too_far(delay_ms: int) -> int:
    """MicroPython sorts its sleepers by ticks: beside a late one, a longer sleep counts as past."""
    if not -DELAY_END_MS < delay_ms < DELAY_END_MS:
        raise OverflowError("ticks interval overflow")
    return delay_ms


def _within_half_a_wrap(delta_ms: int) -> int:
    """Further away, a tick counts as past; MicroPython refuses it, and so does this."""
    if not -TICKS_HALF < delta_ms < TICKS_HALF:
        raise OverflowError("ticks interval overflow")
    return delta_ms


def ticks_ms() -> int:
    try:
        seconds = get_running_loop().time()
    except RuntimeError:
        # No loop runs here; its default clock is this same one.
        seconds = time.monotonic()
    # Through nanoseconds: 0.029 s * 1000 is 28.99... in floating point and loses a millisecond.
    return round(seconds * 1e9) // 1_000_000 % TICKS_PERIOD


def ticks_add(ticks: int, delta_ms: int) -> int:
    return (ticks + _within_half_a_wrap(delta_ms)) % TICKS_PERIOD


def ticks_diff(end: int, start: int) -> int:
    return (end - start + TICKS_HALF) % TICKS_PERIOD - TICKS_HALF


class ThreadSafeFlag:
    """A flag that any thread may set and one task waits for; waiting clears it."""

    def __init__(self) -> None:
        self._is_set = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread_id = 0
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        # The order matters: the mark first, then the look for a loop. A waiter does it the other
        # way round, so one of the two always sees the other.
        self._is_set = True
        loop = self._loop
        if loop is None:
            return
        if threading.get_ident() == self._loop_thread_id:
            self._wake()
            return
        try:
            loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            # An edge that comes after the loop was closed has nobody left to wake.
            if not loop.is_closed():
                raise

    def clear(self) -> None:
        self._is_set = False

    async def wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._loop_thread_id = threading.get_ident()
        self._loop = loop
        if self._waiter is not None:
            raise RuntimeError("A ThreadSafeFlag has one waiter, and it already waits.")
        while not self._is_set:
            self._waiter = loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        self._is_set = False

    async def wait_ms(self, timeout_ms: int) -> bool:
        """What `wait_set_ms` says; a flag that was set is cleared."""
        loop = asyncio.get_running_loop()
        self._loop_thread_id = threading.get_ident()
        self._loop = loop
        if self._waiter is not None:
            raise RuntimeError("A ThreadSafeFlag has one waiter, and it already waits.")
        until_s = loop.time() + _not_too_far(timeout_ms) / 1000
        while not self._is_set and loop.time() < until_s:
            waiter = self._waiter = loop.create_future()
            timer = loop.call_at(until_s, _ring, waiter)
            try:
                await waiter
            finally:
                timer.cancel()
                self._waiter = None
        was_set, self._is_set = self._is_set, False
        return was_set

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
