"""What a storm is made of: three numbers from its caller, everything else drawn from the seed."""

from __future__ import annotations

import random
import shlex
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sim.runs.storm.faults.deck import ACT_KINDS, FAULT_KINDS, KINDS

# What brings about the rarest of the things that must happen.
DEEP, WIDE = "deep", "wide"  # through the registers of the sensing ICs, or above them
DEPTHS = (DEEP, WIDE)

TELLING_KINDS = ("power cut after an event", "connection overtaken")


@dataclass(frozen=True)
class StormOptions:
    tables: int
    hours: float
    seed: int
    fault_every_s: float = 30.0  # of each table, on average
    weights: dict[str, int] = field(default_factory=dict)
    depth: str = DEEP
    act_every_s: float = 30.0  # of each table, on average

    @classmethod
    def drawn(cls, tables: int, hours: float, seed: int, depth: str = DEEP) -> StormOptions:
        chance = random.Random(f"options {seed}")
        every_s = chance.choice((8.0, 12.0, 20.0, 30.0))
        weights = {
            kind: chance.choice((1, 1, 2, 4)) * (2 if kind in TELLING_KINDS else 1)
            for kind in FAULT_KINDS
        }
        chance = random.Random(f"acts {seed}")  # of their own, so that the faults stay as they were
        act_every_s = chance.choice((15.0, 25.0, 40.0))
        weights |= {kind: chance.choice((1, 1, 2)) for kind in ACT_KINDS}
        return cls(tables, hours, seed, every_s, weights, depth, act_every_s)

    def without_kinds(self, kinds: Collection[str]) -> StormOptions:
        """The same numbers with these kinds of fault left out: another storm."""
        kept = {kind: weight for kind, weight in self.weights.items() if kind not in kinds}
        return replace(self, weights=kept)

    def as_dict(self) -> dict[str, Any]:
        drawn = asdict(self)
        for name in ("tables", "hours", "seed", "depth"):
            drawn.pop(name)
        return drawn

    @property
    def floor_seed(self) -> str:
        return f"storm {self.seed}"

    @property
    def command(self) -> str:
        numbers = f"--tables {self.tables} --hours {self.hours!r} --seed {self.seed}"
        left_out = [kind for kind in KINDS if kind not in self.weights]
        without = "".join(f" --without {shlex.quote(kind)}" for kind in left_out)
        return f"python -m sim storm {numbers} --depth {self.depth}{without}"
