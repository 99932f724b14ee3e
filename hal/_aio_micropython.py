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
    current_task,
    gather,
    sleep,
    sleep_ms,
    wait_for,
    wait_for_ms,
)
from time import ticks_add, ticks_diff, ticks_ms

# A class cannot be subscripted here. The generic base that a type checker wants is therefore the
# only entry of a tuple: Boxed[Item] is plain object.
Item = 0
Boxed = (object,)


def create_task(coro, name=None):
    return asyncio.create_task(coro)


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
