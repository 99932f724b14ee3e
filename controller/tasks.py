"""The unit's tasks by name: started, watched, and never dying unseen.

A critical task's death is reported once, with its name; what the table does about it is decided by
the one who is told. It also knows when each critical task last showed progress, which is what
the watchdog is fed from.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from hal import aio

log = logging.getLogger("controller.tasks")

PROGRESS_MAX_MS = 4000


class UnitTasks:
    def __init__(self, on_death: Callable[[str, BaseException], None]) -> None:
        self._on_death = on_death
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._progress_ms: dict[str, int] = {}
        self._closing = False
        self.dead: str = ""
        self.deaths: list[BaseException] = []

    def start(self, name: str, coroutine: Coroutine[Any, Any, None], critical: bool = True) -> None:
        assert name not in self._tasks, f"two tasks are called {name}"
        task = aio.create_task(coroutine, name=name)
        self._tasks[name] = task
        if critical:
            self.beat(name)
        task.add_done_callback(lambda done: self._ended(name, critical, done))

    def beat(self, name: str) -> None:
        """A critical task calls this each time it got something done."""
        self._progress_ms[name] = aio.ticks_ms()

    def stalled(self) -> list[str]:
        """Critical tasks that showed no progress for too long."""
        now_ms = aio.ticks_ms()
        return sorted(
            name
            for name, beat_ms in self._progress_ms.items()
            if aio.ticks_diff(now_ms, beat_ms) > PROGRESS_MAX_MS
        )

    async def end(self, names: Iterable[str]) -> None:
        """Ends these, so that they can be started again; one that does not run is passed over."""
        tasks = []
        for name in names:
            self._progress_ms.pop(name, None)
            task = self._tasks.pop(name, None)
            if task is not None:
                task.cancel()
                tasks.append(task)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def stop(self) -> None:
        self._closing = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, name: str, critical: bool, task: asyncio.Task[None]) -> None:
        if self._closing or task.cancelled():
            return
        error = task.exception() or RuntimeError("ended without being asked to")
        if isinstance(error, KeyboardInterrupt):
            return  # it went to whatever ran just then, and ends the whole process
        log.error("task %s died", name, exc_info=error)
        self.deaths.append(error)
        if critical and not self.dead:
            self.dead = name
            self._on_death(name, error)
