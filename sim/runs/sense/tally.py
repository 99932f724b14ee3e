"""Adds up the outcomes of one case and says in sentences which requirement they break.

It knows what is required of sensing over any seed. How many trials there were and which way they
took is the matrix's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from sim.felt.physics.ranges import RANGES
from sim.runs.sense.cases import Case
from sim.runs.sense.trial import Outcome

SEEDS_KEPT_MAX = 5


@dataclass
class CaseFigures:
    """The figures of one case."""

    case: Case
    trials: int = 0
    through_registers: int = 0
    redrawn: int = 0
    chips: int = 0
    false_accepts: int = 0
    missed_refused: int = 0
    missed_silently: int = 0
    refused: int = 0
    dead_read_empty: int = 0
    doubtful: int = 0
    doubtful_accepted: int = 0
    doubtful_silent: int = 0
    flickers: int = 0
    wrong_lights: int = 0
    used: set[str] = field(default_factory=set)
    odd_seeds: list[int] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.trials += 1
        self.through_registers += outcome.through_registers
        self.redrawn += outcome.redrawn
        self.chips += outcome.chip_count
        self.false_accepts += outcome.false_accepts
        self.missed_refused += outcome.missed_refused
        self.missed_silently += outcome.missed_silently
        self.refused += outcome.refused
        self.dead_read_empty += outcome.dead_read_empty
        self.doubtful += outcome.doubtful_count
        self.doubtful_accepted += outcome.doubtful_accepted
        self.doubtful_silent += outcome.doubtful_silent
        self.flickers += outcome.flickers
        self.wrong_lights += outcome.wrong_lights
        self.used |= outcome.used
        if outcome.is_odd(self.case) and len(self.odd_seeds) < SEEDS_KEPT_MAX:
            self.odd_seeds.append(outcome.seed)

    @property
    def missed(self) -> int:
        return self.missed_refused + self.missed_silently

    def broken(self) -> list[str]:
        """A sentence for each requirement that these figures break."""
        case, name = self.case, self.case.name
        found = []
        if case.never_accepts and self.false_accepts:
            found.append(f"{name}: {self.false_accepts} false accepts.")
        if self.missed_silently:
            found.append(f"{name}: {self.missed_silently} centred chips read as no bet.")
        if case.never_empty and self.dead_read_empty:
            found.append(f"{name}: {self.dead_read_empty} dead spots read as no bet.")
        if case.never_flickers and self.flickers:
            found.append(f"{name}: {self.flickers} spots flickered.")
        if self.doubtful_silent:
            found.append(f"{name}: {self.doubtful_silent} neither accepted nor refused visibly.")
        if self.wrong_lights:
            found.append(f"{name}: {self.wrong_lights} lights did not show the verdict.")
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "case": self.case.name,
            "trials": self.trials,
            "through_registers": self.through_registers,
            "centred_chips": self.chips,
            "false_accepts": self.false_accepts,
            "false_rejects": self.missed,
            "false_rejects_silent": self.missed_silently,
            "unknowns": self.refused,
            "doubtful_chips": self.doubtful,
            "doubtful_accepted": self.doubtful_accepted,
            "doubtful_silent": self.doubtful_silent,
            "dead_read_empty": self.dead_read_empty,
            "flickers": self.flickers if self.case.never_flickers else None,
            "tables_refused_at_calibration": self.redrawn,
            "odd_seeds": self.odd_seeds,
            "ranges": {name: list(RANGES[name]) for name in sorted(self.used)},
        }


def broken_by(tallies: Iterable[CaseFigures]) -> list[str]:
    """Every requirement that is broken, the pooled rate of missed chips included."""
    tallies = list(tallies)
    found = [sentence for tally in tallies for sentence in tally.broken()]
    rated = [tally for tally in tallies if tally.case.misses_max is not None]
    chips, missed = sum(t.chips for t in rated), sum(t.missed for t in rated)
    limit = max((t.case.misses_max or 0.0 for t in rated), default=0.0)
    # One miss among fewer chips than the limit speaks of proves nothing yet.
    if missed > ceil(chips * limit):
        found.append(f"centred chips: {missed} of {chips} missed.")
    return found
