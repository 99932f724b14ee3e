"""MicroPython's half of `hal.aio`: its own asyncio, with what a small build leaves out added.

Import `hal.aio`, never this module. The WebAssembly build has neither `run` nor `ThreadSafeFlag`;
a build for a board has both, and then its own are used.
"""

# mypy: ignore-errors
# ruff: noqa: F401, A004
import asyncio
from asyncio import (
    CancelledError,
    Event,
    Lock,
    TimeoutError,
    gather,
)
from time import ticks_add, ticks_diff, ticks_ms

DELAY_END_MS = 1 << 28  # three days; ticks wrap at 1 << 30

# A class cannot be subscripted here. The generic base that a type checker wants is therefore the
# only entry of a tuple: Boxed[Item] is plain object.
Item = 0
Boxed = (object,)


def create_task(coro, name=None):
    return asyncio.create_task(coro)


def _not_too_far(delay_ms):
    # Sleepers are sorted by ticks. Half a wrap from somebody who is late, a sleep counts as past:
    # it gets in front of everybody, and the board sleeps for days.
    if not -DELAY_END_MS < delay_ms < DELAY_END_MS:
        raise OverflowError("ticks interval overflow")
    return delay_ms


async def sleep_ms(delay_ms):
    await asyncio.sleep_ms(_not_too_far(delay_ms))


async def sleep(delay_s):
    await sleep_ms(int(delay_s * 1000))


async def wait_for(awaitable, timeout):
    if timeout is None:
        return await awaitable
    return await wait_for_ms(awaitable, int(timeout * 1000))


async def wait_for_ms(awaitable, timeout_ms):
    # A task of its own, so that its end can be waited for when we are cancelled ourselves.
    _not_too_far(timeout_ms)
    task = awaitable if hasattr(awaitable, "cancel") else asyncio.create_task(awaitable)
    try:
        return await asyncio.wait_for_ms(task, timeout_ms)
    except CancelledError:
        await _end_of(task)
        raise


async def wait_set_ms(event, timeout_ms):
    """Waits until it is set, or so long. True: it was set."""
    try:
        await wait_for_ms(event.wait(), timeout_ms)
    except TimeoutError:  # noqa: UP041 - of its asyncio: a small build has no other
        return False
    return True


async def _end_of(task):
    """What a task makes of its cancellation is its own business, but for when it is over."""
    try:
        await task
    except (CancelledError, Exception):  # noqa: BLE001 - its own business
        return


class _FlagOnEvent:
    """ThreadSafeFlag for a build without threads and interrupts: an Event that waiting clears."""

    def __init__(self):
        self._event = Event()

    def set(self):
        self._event.set()

    def clear(self):
        self._event.clear()

    async def wait(self):
        await self._event.wait()
        self._event.clear()


def _run_until_complete(coro):
    return asyncio.get_event_loop().run_until_complete(coro)


def _run_beside_the_host(coro):
    """A build inside a browser or Node must not block its host: await the task this returns."""
    return asyncio.create_task(coro)


def _choose_run():
    if hasattr(asyncio, "run"):
        return asyncio.run
    if hasattr(asyncio.get_event_loop(), "run_until_complete"):
        return _run_until_complete
    return _run_beside_the_host


run = _choose_run()
ThreadSafeFlag = getattr(asyncio, "ThreadSafeFlag", _FlagOnEvent)
