"""How far a manager has taken in one unit's journals, as the checker saw it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Event(NamedTuple):
    sequence: int
    kind: int
    body: dict[int, Any]
    digest: bytes


@dataclass
class UnitView:
    """The journal that a unit goes by now, and those that were damaged before it."""

    table_id: str
    journal_id: bytes
    digests: list[bytes] = field(default_factory=list)
    waiting: deque[Event] = field(default_factory=deque)
    locked: bool = False
    ended: list[tuple[bytes, list[bytes]]] = field(default_factory=list)  # journals before this one

    def begins(self, journal_id: bytes) -> None:
        """A new journal goes on for the one that was damaged."""
        self.ended.append((self.journal_id, self.digests))
        self.journal_id, self.digests = journal_id, []

    def took(self, place: tuple[bytes, int, bytes]) -> bool:
        """Whether this was taken in from an earlier journal."""
        journal_id, sequence, digest = place
        found = [digests for known, digests in self.ended if known == journal_id]
        return any(0 < sequence <= len(each) and each[sequence - 1] == digest for each in found)

    @property
    def last_sequence(self) -> int:
        return len(self.digests)
