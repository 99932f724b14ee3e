"""The unit's disk worker in virtual time: a thread that needs time, and finishes what it began.

As with a real thread, a job that has begun runs to its end even when nobody waits for it any more,
and its result is told a moment after the disk has it: the power may go before, between and after.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from hal.worker import Worker

T = TypeVar("T")

WORK_MS = (0.2, 3.0)
TELL_MS = (0.05, 0.6)
HICCUP_SHARE = 0.01
HICCUP_MS = (40.0, 900.0)  # a disk that cleans up


@dataclass
class Pace:
    """How slow a disk is just now; it outlives the program that waits for it."""

    stalls: bool = False  # every job takes as long as a hiccup


class SlowDisk(Worker):
    def __init__(self, chance: random.Random, pace: Pace) -> None:
        self.name = "disk"
        self._chance = chance
        self._pace = pace
        self._waiting: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._busy = False
        self._dead = False
        self.is_booting = False  # what opens the files takes no time: no power goes within it
        self.untold_since_s: float | None = None  # done at that time, and its caller does not know

    async def run(self, job: Callable[[], T]) -> T:
        if self.is_booting and not self._dead:
            return job()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        self._begin_next()
        return await future

    def close(self) -> None:
        pass

    def die(self) -> None:
        """The power is gone: no job runs any more."""
        self._dead = True
        self._waiting.clear()

    def _begin_next(self) -> None:
        while self._waiting and not self._busy and not self._dead:
            job, future = self._waiting.popleft()
            if not future.cancelled():
                self._busy = True
                self._later(self._work_ms(), self._do, job, future)

    def _do(self, job: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        if self._dead:
            return
        try:
            answer: Any = job()
        except Exception as error:  # noqa: BLE001 - a thread hands every failure to its caller
            self._later(self._tell_ms(), self._tell, future, None, error)
        else:
            self.untold_since_s = asyncio.get_running_loop().time()
            self._later(self._tell_ms(), self._tell, future, answer, None)

    def _tell(self, future: asyncio.Future[Any], answer: Any, error: Exception | None) -> None:
        if self._dead:
            return
        self._busy, self.untold_since_s = False, None
        if not future.done():
            if error is None:
                future.set_result(answer)
            else:
                future.set_exception(error)
        self._begin_next()

    def _later(self, delay_ms: float, call: Callable[..., None], *values: Any) -> None:
        asyncio.get_running_loop().call_later(delay_ms / 1000, call, *values)

    def _work_ms(self) -> float:
        hiccup = self._chance.random() < HICCUP_SHARE or self._pace.stalls
        return self._chance.uniform(*(HICCUP_MS if hiccup else WORK_MS))

    def _tell_ms(self) -> float:
        return self._chance.uniform(*TELL_MS)
