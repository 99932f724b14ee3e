"""Where commits run while a manager serves: on a thread of their own, one at a time.

The loop goes on meanwhile. It hears of the end in its own turn, or waits for it where a step needs
what is durable. What is committed, and what rests on it, is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol

Work = Callable[[], None]
Done = Callable[[BaseException | None], None]


class Writer(Protocol):
    def submit(self, work: Work, done: Done) -> None:
        """Runs `work`, then tells `done` on the loop's thread; the one before must be done."""

    def wait(self) -> None:
        """Blocks until nothing is under way, and `done` was told."""

    def close(self) -> None: ...


class ThreadWriter:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = ThreadPoolExecutor(1, "ledger writer")
        self._under_way: tuple[Future[None], Done] | None = None

    def submit(self, work: Work, done: Done) -> None:
        assert self._under_way is None, "one commit at a time"
        future = self._thread.submit(work)
        self._under_way = future, done
        future.add_done_callback(self._tell_loop)

    def wait(self) -> None:
        if self._under_way is not None:
            future, _ = self._under_way
            wait([future])
            self._tell(future)

    def close(self) -> None:
        self.wait()
        self._thread.shutdown()

    def _tell_loop(self, future: Future[None]) -> None:
        self._loop.call_soon_threadsafe(self._tell, future)

    def _tell(self, future: Future[None]) -> None:
        if self._under_way is None or self._under_way[0] is not future:
            return  # somebody waited for it and was told already
        (_, done), self._under_way = self._under_way, None
        done(future.exception())
