"""A ledger's writer in virtual time: each commit takes a while, during which memory runs ahead.

The shipped manager commits on a thread. Here the same commit happens on the one thread there is,
later, so that power cuts, failing disks and lost lines fall between a step and its commit, and
every run can be repeated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from manager.ledger.engines.engine import StorageFailed
from manager.ledger.store.writer import Done, Work


class LateWriter:
    """`delay_ms` is asked for each commit."""

    def __init__(self, loop: asyncio.AbstractEventLoop, delay_ms: Callable[[], float]) -> None:
        self._loop = loop
        self._delay_ms = delay_ms
        self._timer: asyncio.TimerHandle | None = None
        self._run: Callable[[], None] | None = None

    def submit(self, work: Work, done: Done) -> None:
        assert self._run is None, "one commit at a time"

        def run() -> None:
            self._run = None
            failure: StorageFailed | None = None
            try:
                work()
            except StorageFailed as problem:
                failure = problem
            done(failure)

        self._run = run
        self._timer = self._loop.call_later(self._delay_ms() / 1000, run)

    def wait(self) -> None:
        if self._run is not None and self._timer is not None:
            self._timer.cancel()
            self._run()

    def close(self) -> None:
        self.wait()
