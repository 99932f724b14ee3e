"""What many storms have seen together, and how it is said."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sim.runs.storm.campaign.storm_process import StormOutcome
from sim.runs.storm.marks import MUST_FIRE
from sim.runs.storm.options import DEPTHS


@dataclass
class CampaignFigures:
    """What a campaign has seen so far."""

    failed: list[StormOutcome] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    storms: Counter[str] = field(default_factory=Counter)  # by depth, as the next two
    table_hours: dict[str, float] = field(default_factory=lambda: dict.fromkeys(DEPTHS, 0.0))
    cpu_seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(DEPTHS, 0.0))

    def add(self, outcome: StormOutcome) -> None:
        options, figures = outcome.options, outcome.figures
        self.marks.update(figures.get("marks", {}))
        self.faults.update(figures.get("faults", {}))
        self.storms[options.depth] += 1
        self.table_hours[options.depth] += options.tables * options.hours
        self.cpu_seconds[options.depth] += figures.get("cpu_seconds", 0.0)
        for name in ("rounds", "wins", "events"):
            self.sums[name] += figures.get(name, 0)
        if not outcome.passed:
            self.failed.append(outcome)

    def missing(self) -> list[str]:
        return [name for name in MUST_FIRE if not self.marks[name]]

    def hours_said(self) -> str:
        """The storms and table-hours of each depth."""
        return ", ".join(
            f"{self.storms[depth]} {depth} ({self.table_hours[depth]:.2f} table-hours,"
            f" {self.cpu_seconds[depth]:.0f} CPU seconds)"
            for depth in DEPTHS
        )

    def said(self) -> str:
        sums = self.sums
        return (
            f"{self.storms.total()} storms: {self.hours_said()}; {sums['rounds']} rounds,"
            f" {sums['wins']} wins, {self.faults.total()} faults, {sums['events']} events"
        )


def storm_said(outcome: StormOutcome) -> str:
    """One line, and two more for one that failed."""
    options, figures = outcome.options, outcome.figures
    line = (
        f"{'ok  ' if outcome.passed else 'FAIL'} seed {options.seed}: {options.depth},"
        f" {options.tables} tables, {options.hours:g} h, {figures.get('rounds', 0)} rounds,"
        f" {figures.get('wins', 0)} wins, {sum(figures.get('faults', {}).values())} faults"
    )
    return line if outcome.passed else f"{line}\n  {outcome.says}\n  {again_said(outcome)}"


def again_said(outcome: StormOutcome) -> str:
    return f"to see it again: {outcome.options.command}"
