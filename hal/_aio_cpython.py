"""CPython's half of `hal.aio`: asyncio, spoken with MicroPython's names and meanings.

Import `hal.aio`, never this module. Time comes from the running loop, so a virtual-time loop
moves the ticks as well.
"""

from __future__ import annotations

import asyncio
import threading
import time
from asyncio import (
    CancelledError,
    Event,
    Lock,
    TimeoutError,  # noqa: A004 - the name MicroPython gives it
    current_task,
    gather,
    run,
    sleep,
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
    "current_task",
    "gather",
    "run",
    "sleep",
    "sleep_ms",
    "ticks_add",
    "ticks_diff",
    "ticks_ms",
    "wait_for",
    "wait_for_ms",
]

T = TypeVar("T")
Item = TypeVar("Item")

# MicroPython's ticks wrap at 2**30; wrapping here too makes the tests meet the wrap.
TICKS_PERIOD = 1 << 30
TICKS_HALF = TICKS_PERIOD >> 1


class Boxed(Generic[Item]):
    """What makes `Mailbox[Frame]` mean something to a type checker."""


def create_task(coro: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
    return asyncio.create_task(coro, name=name)


async def sleep_ms(delay_ms: int) -> None:
    await asyncio.sleep(delay_ms / 1000)


async def wait_for(awaitable: Awaitable[T], timeout: float | None) -> T:
    # asyncio.timeout rather than asyncio.wait_for: before 3.12 the latter could lose a result that
    # arrived together with a cancellation.
    async with asyncio.timeout(timeout):
        return await awaitable


async def wait_for_ms(awaitable: Awaitable[T], timeout_ms: int) -> T:
    return await wait_for(awaitable, timeout_ms / 1000)


def _now_seconds() -> float:
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        # No loop runs here; its default clock is this same one.
        return time.monotonic()


def ticks_ms() -> int:
    # Through nanoseconds: 0.029 s * 1000 is 28.99... in floating point and loses a millisecond.
    return round(_now_seconds() * 1e9) // 1_000_000 % TICKS_PERIOD


def ticks_add(ticks: int, delta_ms: int) -> int:
    return (ticks + delta_ms) % TICKS_PERIOD


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

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
