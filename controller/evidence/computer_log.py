"""How the unit's computer was since it started: how warm, and how often its supply was too low.

The firmware tells of the supply only that something happened at some time; asked every few seconds,
it becomes a count. What this machine does not have is not there, and never a guess.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from controller.evidence.machine import machine


class ComputerLog:
    def __init__(self, data: Path | None, root: Path) -> None:
        self._data = data
        self._root = root
        self._now: dict[str, Any] = {}
        self._supply: Counter[str] = Counter()
        self._looks = 0
        self._warmest_c: float | None = None

    def look(self) -> None:
        """Reads some of the kernel's files. Blocks for a moment; run it on a worker."""
        now = machine(self._data, self._root)
        self._looks += 1
        self._supply.update(now["supply_now"] or ())
        warm_c = now["temperature_c"]
        if warm_c is not None and (self._warmest_c is None or warm_c > self._warmest_c):
            self._warmest_c = warm_c
        self._now = now

    def view(self) -> dict[str, Any]:
        return {
            **self._now,
            "looks": self._looks,
            "supply_looks": dict(self._supply),
            "warmest_c": self._warmest_c,
        }
