"""What the checkers' own books are made of: entries that must be there, wagers and claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sim.runs.storm.checks.recorded_again import Parts
from sim.runs.storm.checks.terms import HandTerms


class Expected(NamedTuple):
    """One ledger entry that must be there."""

    kind: str
    table_id: str
    round_number: int
    sensor: str
    claim_number: int
    postings: dict[str, int]


class Wagered(NamedTuple):
    """A wager of a round under way, and how often each of its meters had paid when it came."""

    entry: Expected
    drawn: dict[str, int]


class Line(NamedTuple):
    sensor: str
    hand: str
    terms: HandTerms


@dataclass
class Claim:
    table_id: str
    number: int
    round_number: int
    lines: list[Line]
    envy: list[tuple[str, int]]
    amounts_cents: list[int]
    frozen: bool
    log_order: int = 0
    state: str = "open"  # open, owed, committed, cancelled, refused, backed out
    win_number: int = 0
    is_reversed: bool = False
    is_recorded_again: bool = False
    then: dict[str, Parts] = field(default_factory=dict)  # each meter before the table's own win
    paid_by: list[Expected] = field(default_factory=list)
    set_aside: dict[str, int] = field(default_factory=dict)
    before: dict[str, int] = field(default_factory=dict)  # each meter before its first award
    emptied: set[str] = field(default_factory=set)  # meters that were reseeded by it

    @property
    def terms(self) -> list[HandTerms]:
        return [line.terms for line in self.lines]

    @property
    def meters(self) -> set[str]:
        return {line.terms.meter for line in self.lines if line.terms.meter}
