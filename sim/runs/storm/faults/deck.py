"""Which kinds of fault there are, and in which order a storm deals them.

A deck rather than dice: every kind comes up once before any comes up for the last time, so a storm
of sufficient size meets all of them. What people do about games and wins is a second deck with a
stream of chance of its own, so that a kind added there leaves the faults of every seed as they are.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

FAULT_KINDS = (
    "power cut",
    "power cut at any await",
    "power cut inside the disk",
    "power cut after an event",
    "power cut while booting",
    "disk fails",
    "disk stalls",
    "disk copied",
    "clock jumps",
    "link cut",
    "link flaps",
    "link slow",
    "link one way",
    "connection reset",
    "connection overtaken",
    "manager killed",
    "manager killed at any await",
    "manager killed inside the disk",
    "manager killed after an event",
    "manager disk fails",
    "manager clock jumps",
    "bus fault",
    "electrode breaks",
    "cabinet opened",
    "liquid spilled",
    "manager lease lost",
    "manager commits late",
    "manager commit unknown",
    "operator adjusts",
    "operator sets a limit",
    "operator stops play",
)
ACT_KINDS = (
    "operator voids a game",
    "operator reverses a win",
    "operator backs a win out",
    "journal damaged",
    "operator records a win again",
)
KINDS = FAULT_KINDS + ACT_KINDS


class Deck:
    def __init__(self, weights: Mapping[str, int], chance: random.Random) -> None:
        self._cards = [kind for kind, weight in weights.items() for _ in range(weight)]
        self._chance = chance
        self._left: list[str] = []

    @property
    def is_empty(self) -> bool:
        return not self._cards

    def deal(self) -> str:
        if not self._left:
            self._left = list(self._cards)
            self._chance.shuffle(self._left)
        return self._left.pop()
