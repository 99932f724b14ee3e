"""How long a process has had to do its work, however busy the machine is."""

from __future__ import annotations

import os
import time
from pathlib import Path

NS_PER_S = 1_000_000_000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class OwnTime:
    """Seconds in which a process ran or slept, without those in which it only waited its turn.

    So a limit means the same on a machine that ten others share. It counts the thread that
    computes most, because the others of an emulated machine hardly do.
    """

    def __init__(self, pid: int) -> None:
        self._tasks = Path(f"/proc/{pid}/task")
        self._begun_s = time.monotonic()
        self._waited_s = 0.0

    def passed_s(self) -> float:
        self._waited_s = max(self._waited_s, self._waited_now_s())
        return time.monotonic() - self._begun_s - self._waited_s

    def _waited_now_s(self) -> float:
        try:
            told = [(each / "schedstat").read_text().split() for each in self._tasks.iterdir()]
        except (FileNotFoundError, ProcessLookupError):  # a thread or the process has ended
            return 0.0
        _, waited_ns = max(((int(each[0]), int(each[1])) for each in told), default=(0, 0))
        return waited_ns / NS_PER_S


def computed_s(pid: int) -> float:
    """CPU seconds of a running process and its threads so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / TICKS_PER_S
