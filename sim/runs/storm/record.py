"""What a run leaves behind: its trace, what went wrong on purpose, and what must never be.

The trace holds logical events only (who, what, which digest, at which virtual millisecond), so the
same seed gives the same hash on any machine. It judges nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, deque
from dataclasses import dataclass

from sim.runs.storm.faults.deck import ACT_KINDS
from sim.runs.storm.floor.clock import now_ms
from sim.runs.storm.marks import Marks

LINES_KEPT = 60


@dataclass(frozen=True)
class Violation:
    """A promise that was broken: which, where, when and how."""

    at_ms: int
    rule: str
    where: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.at_ms / 1000:.3f} s, {self.where}: {self.rule}: {self.sentence}"


class Record:
    def __init__(self, keep_all: bool = False) -> None:
        self.marks = Marks()
        self.floor: list[str] = []  # each table as it was drawn
        self.faults: Counter[str] = Counter()
        self.violations: list[Violation] = []
        self.broken = asyncio.Event()
        self.round_count = 0
        self.win_count = 0
        self.event_count = 0
        self.lines: deque[str] = deque(maxlen=None if keep_all else LINES_KEPT)
        self._trace = hashlib.sha256()

    @property
    def fault_count(self) -> int:
        """Without what people did about games and wins."""
        return self.faults.total() - sum(self.faults[kind] for kind in ACT_KINDS)

    @property
    def trace_sha256(self) -> str:
        return self._trace.hexdigest()

    def note(self, *parts: object) -> None:
        """One line of the trace."""
        line = " ".join([str(now_ms()), *map(str, parts)])
        self._trace.update(line.encode() + b"\n")
        self.lines.append(line)

    def drew(self, table: str) -> None:
        self.floor.append(table)
        self.note("table", table)

    def fault(self, kind: str, where: str, detail: str = "") -> None:
        self.faults[kind] += 1
        self.note("fault", kind, where, detail)

    def violate(self, rule: str, where: str, sentence: str) -> None:
        violation = Violation(now_ms(), rule, where, sentence)
        self.note("VIOLATION", violation)
        self.violations.append(violation)
        self.broken.set()
