"""What a storm is made of: three numbers from its caller, everything else drawn from the seed."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field
from typing import Any

from sim.storm.deck import KINDS

# What brings about the rarest of the things that must happen.
TELLING_KINDS = ("power cut after an event", "connection overtaken")


@dataclass(frozen=True)
class StormOptions:
    tables: int
    hours: float
    seed: int
    fault_every_s: float = 30.0  # of each table, on average
    weights: dict[str, int] = field(default_factory=dict)

    @classmethod
    def drawn(cls, tables: int, hours: float, seed: int) -> StormOptions:
        chance = random.Random(f"options {seed}")
        every_s = chance.choice((8.0, 12.0, 20.0, 30.0))
        weights = {
            kind: chance.choice((1, 1, 2, 4)) * (2 if kind in TELLING_KINDS else 1)
            for kind in KINDS
        }
        return cls(tables, hours, seed, every_s, weights)

    def as_dict(self) -> dict[str, Any]:
        drawn = asdict(self)
        for name in ("tables", "hours", "seed"):
            drawn.pop(name)
        return drawn

    @property
    def floor_seed(self) -> str:
        return f"storm {self.seed}"

    @property
    def command(self) -> str:
        numbers = f"--tables {self.tables} --hours {self.hours!r} --seed {self.seed}"
        return f"python -m sim storm {numbers}"
