"""Who may block: one worker per blocking thing (a bus, the disk), and nobody else.

A worker runs jobs one after another in the order they were given. It knows nothing about what a job
does, and it repeats nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from hal.errors import WorkerBusy

T = TypeVar("T")

JOB_COUNT_MAX = 64


class Worker(Protocol):
    """One owner of one blocking thing."""

    name: str

    async def run(self, job: Callable[[], T]) -> T: ...

    def close(self) -> None: ...


class ThreadWorker(Worker):
    """Runs jobs on one named thread, so that the event loop never waits for a device."""

    def __init__(self, name: str, job_count_max: int = JOB_COUNT_MAX) -> None:
        self.name = name
        self._job_count_max = job_count_max
        self._job_count = 0
        self._closed = False
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, job: Callable[[], T]) -> T:
        if self._closed:
            raise WorkerBusy(f"The worker {self.name} was closed and takes no more jobs.")
        if self._job_count >= self._job_count_max:
            raise WorkerBusy(
                f"The worker {self.name} already has {self._job_count} jobs waiting; it is stuck."
            )
        self._job_count += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, job)
        finally:
            self._job_count -= 1

    def close(self) -> None:
        """Finishes what was given already (a record on its way to disk), then ends the thread."""
        self._closed = True
        self._executor.shutdown(wait=True)


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
