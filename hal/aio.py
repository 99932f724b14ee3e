"""Tasks and time for everything that may run on MicroPython as well as on CPython.

This is the only door to asyncio for the portable core: exactly the surface MicroPython has, plus a
bounded mailbox of our own. It does not choose a loop: on a unit that is asyncio's, in the simulator
the virtual-time loop. Compare ticks only with `ticks_diff`; they wrap at 2**30.
"""

# ruff: noqa: RUF037
import sys
from collections import deque

# A type checker takes this name for true; MicroPython has no typing module to ask.
MYPY = False
if MYPY or sys.implementation.name != "micropython":
    from hal._aio_cpython import (
        Boxed,
        CancelledError,
        Event,
        Item,
        Lock,
        ThreadSafeFlag,
        TimeoutError,
        create_task,
        gather,
        run,
        sleep,
        sleep_ms,
        ticks_add,
        ticks_diff,
        ticks_ms,
        wait_for,
        wait_for_ms,
        wait_set_ms,
    )
else:
    from hal._aio_micropython import (
        Boxed,
        CancelledError,
        Event,
        Item,
        Lock,
        ThreadSafeFlag,
        TimeoutError,
        create_task,
        gather,
        run,
        sleep,
        sleep_ms,
        ticks_add,
        ticks_diff,
        ticks_ms,
        wait_for,
        wait_for_ms,
        wait_set_ms,
    )

__all__ = [
    "CancelledError",
    "Event",
    "Lock",
    "Mailbox",
    "MailboxFull",
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


class MailboxFull(Exception):
    """The receiver did not keep up; the sender must decide what that means."""


class Mailbox(Boxed[Item]):
    """A bounded queue with one consumer. It never drops an item and never waits to accept one."""

    def __init__(self, capacity_max: int) -> None:
        if capacity_max < 1:
            raise ValueError("A mailbox must hold at least one item.")
        self._capacity_max = capacity_max
        self._items: "deque[Item]" = deque(
            (), capacity_max
        )  # MicroPython insists on both arguments.
        self._filled = Event()
        self._consumer_waits = False

    def __len__(self) -> int:
        return len(self._items)

    def put_nowait(self, item: Item) -> None:
        if len(self._items) >= self._capacity_max:
            raise MailboxFull(f"The mailbox is full with {self._capacity_max} items.")
        self._items.append(item)
        self._filled.set()

    async def get(self) -> Item:
        if self._consumer_waits:
            raise RuntimeError("A mailbox has one consumer, and it already waits.")
        self._consumer_waits = True
        try:
            while not self._items:
                self._filled.clear()
                await self._filled.wait()
        finally:
            self._consumer_waits = False
        return self._items.popleft()
