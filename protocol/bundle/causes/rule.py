"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol.bundle.causes.facts import Facts


@dataclass(frozen=True)
class Finding:
    """What one rule found: how sure it is (0 to 100), in words, and from what."""

    score: int
    sentence: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """One known fault. `seen` is what people notice, `todo` what a technician does about it."""

    name: str
    title: str
    seen: str
    todo: tuple[str, ...]
    look: Callable[[Facts], Finding | None]


@dataclass(frozen=True)
class Cause:
    name: str
    score: int
    sentence: str
    evidence: tuple[str, ...]
    todo: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "score": self.score,
            "sentence": self.sentence,
            "evidence": list(self.evidence),
            "todo": list(self.todo),
        }
