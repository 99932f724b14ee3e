"""Whether a technician has this table in service, and what was tried at its inputs meanwhile.

It alone says that a key, a card or the key switch is a trial now and no command. Who may begin it
and when it ends is `controller.service.live.mode`'s. It is not kept: a power cut ends it.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from hal import aio

TRIALS_MAX = 40


class Trial(NamedTuple):
    """What somebody did to one input: when, which input, and what came of it."""

    number: int
    ticks_ms: int
    part: str
    text: str


class ServiceState:
    def __init__(self) -> None:
        self.tech = ""
        self.is_on = False
        self.begun = aio.Event()  # set while it is on, for who waits for it
        self.trials: deque[Trial] = deque(maxlen=TRIALS_MAX)
        self._count = 0

    def begin(self, tech: str) -> None:
        self.is_on, self.tech = True, tech
        self.begun.set()
        self.trials.clear()

    def end(self) -> None:
        self.is_on, self.tech = False, ""
        self.begun.clear()

    def tried(self, part: str, text: str) -> None:
        self._count += 1
        self.trials.append(Trial(self._count, aio.ticks_ms(), part, text))
