"""Who may block: one worker per blocking thing (a bus, the disk), and nobody else.

A worker runs jobs one after another in the order they were given. It knows nothing about what a job
does, and it repeats nothing.
"""

from __future__ import annotations

import asyncio
import threading
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from hal.errors import WorkerBusy

T = TypeVar("T")

JOB_COUNT_MAX = 64


class Worker(Protocol):
    """One owner of one blocking thing."""

    name: str

    async def run(self, job: Callable[[], T]) -> T: ...

    def close(self) -> None: ...


class ThreadWorker(Worker):
    """Runs jobs on one named thread, so that the event loop never waits for a device.

    Every transfer on a bus is a job, so the way there and back is short: one queue, one call into
    the loop. Only a job that has not begun can be called off.
    """

    def __init__(self, name: str, job_count_max: int = JOB_COUNT_MAX) -> None:
        self.name = name
        self._job_count_max = job_count_max
        self._job_count = 0
        self._closed = False
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        # A program that ends without `close` ends its jobs as a power cut would.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def run(self, job: Callable[[], T]) -> T:
        if self._closed:
            raise WorkerBusy(f"The worker {self.name} was closed and takes no more jobs.")
        if self._job_count >= self._job_count_max:
            raise WorkerBusy(
                f"The worker {self.name} already has {self._job_count} jobs waiting; it is stuck."
            )
        loop = asyncio.get_running_loop()
        answer: Future[T] = loop.create_future()
        self._job_count += 1
        self._jobs.put((loop, answer, job))
        try:
            return await answer
        finally:
            self._job_count -= 1

    def close(self) -> None:
        """Finishes what was given already (a record on its way to disk), then ends the thread."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (given := self._jobs.get()) is not None:
            loop, answer, job = given
            if answer.cancelled():
                continue
            try:
                result, error = job(), None
            except BaseException as raised:  # noqa: BLE001 - its caller gets it, whatever it is
                result, error = None, raised
            _answer_in(loop, answer, result, error)
            # Until the next job comes, nothing of this one is kept alive here.
            del given, loop, answer, job, result, error


_Job = tuple[AbstractEventLoop, Future[Any], Callable[[], Any]]


def _answer_in(
    loop: AbstractEventLoop, answer: Future[Any], result: object, error: BaseException | None
) -> None:
    try:
        loop.call_soon_threadsafe(_settle, answer, result, error)
    except RuntimeError:
        # Who asked is gone with its loop.
        if not loop.is_closed():
            raise


def _settle(answer: Future[Any], result: object, error: BaseException | None) -> None:
    if answer.done():
        return  # called off meanwhile
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(result)


class InlineWorker(Worker):
    """Runs each job at once in the caller's own turn: virtual time has no threads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._closed = False

    async def run(self, job: Callable[[], T]) -> T:
        if self._closed:
            raise WorkerBusy(f"The worker {self.name} was closed and takes no more jobs.")
        return job()

    def close(self) -> None:
        self._closed = True
