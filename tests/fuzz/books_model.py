"""A small model of jackpots by the book's words: policies, limits, terms, reversals.

It shares no code with the ledger; what an award is worth and takes is the storm checkers'
arithmetic. Amounts are micro-cents unless their name says cents. Awards on different meters never
touch each other, so each meter is settled alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sim.runs.storm.checks.awards import Earlier, pay
from sim.runs.storm.checks.awards import Meter as CheckedMeter
from sim.runs.storm.checks.terms import HandTerms, MeterTerms

NAME = "meter"
CENT = 1_000_000
WHOLE = 1_000_000
WAGER_CENTS = 100
# hand: (meter, parts per million), or a fixed pay from the tray in cents.
HANDS = {"mega": ("top", WHOLE), "tenth": ("top", 100_000), "minor": ("low", WHOLE)}
FIXED_CENTS = {"fifty": 5_000}
ENVY_CENTS = {"mega": 10_000, "fifty": 500}


@dataclass
class Draw:
    """What one claim took from one meter, and what its reseed brought."""

    player: int = 0
    house: int = 0
    pocket: int = 0  # paid by the house itself
    seed: int = 0
    reserve: int = 0
    reseeded: bool = False
    brought: Draw | None = None  # the draw that brought the terms before these
    old_terms: dict[str, int] = field(default_factory=dict)


@dataclass
class Meter:
    policy: str
    posted: bool
    house: int
    seed: int
    contribution_ppm: int
    reserve_ppm: int
    limit: int = 0
    player: int = 0
    reserve: int = 0
    pending: dict[str, int] = field(default_factory=dict)
    applied_by: Draw | None = None  # whose reseed brought the terms in force
    epoch: int = 0  # grows with everything but a contribution

    @property
    def total(self) -> int:
        return self.player + self.house

    @property
    def parts(self) -> tuple[int, int, int]:
        return self.player, self.house, self.reserve

    def wager(self) -> int:
        """Takes its share of one wager and returns what it left to the house."""
        meter = self._as_checked()
        contribution, reserve = meter.wager(WAGER_CENTS)
        self._take_over(meter)
        return contribution + reserve

    def pay(self, shares_ppm: list[int], basis: int | None, spent: bool) -> tuple[list[int], Draw]:
        """Settles one claim's percentages in pay order; cents for each, and what moved."""
        lines = [HandTerms(NAME, share, 0, 0) for share in shares_ppm]
        earlier = {} if basis is None else {NAME: Earlier(basis, spent)}
        meter = self._as_checked()
        paid = pay(lines, {NAME: meter}, earlier)
        draw = Draw(
            sum(each.player for each in paid),
            sum(each.house for each in paid),
            sum(each.pocket for each in paid),
            sum(each.seed for each in paid),
            sum(each.reserve for each in paid),
            any(each.reseeds for each in paid),
        )
        self._take_over(meter)
        if draw.reseeded:
            self._bring_pending(draw)
        self.epoch += 1
        return [each.cents for each in sorted(paid)], draw

    def undo(self, draw: Draw) -> tuple[int, int]:
        """Total and reserve as they must be afterwards, before anything is made up."""
        self.player += draw.player - draw.reserve
        self.house += draw.house - draw.seed
        self.reserve += draw.reserve
        self.epoch += 1
        if draw.old_terms and self.applied_by is draw:
            names = ("seed", "contribution_ppm")
            self.pending = self.pending or {name: getattr(self, name) for name in names}
            self._use(draw.old_terms)
            self.applied_by = draw.brought
        return self.total, self.reserve

    def _as_checked(self) -> CheckedMeter:
        """For the checkers' own arithmetic, with the seed that the next reseed brings."""
        terms = MeterTerms(
            self.pending.get("seed", self.seed) // CENT,
            0,
            self.contribution_ppm,
            self.reserve_ppm,
            False,
            self.policy,
            self.posted,
            self.limit // CENT,
        )
        return CheckedMeter(terms, self.player, self.house, self.reserve)

    def _take_over(self, meter: CheckedMeter) -> None:
        self.player, self.house, self.reserve = meter.player, meter.house, meter.reserve

    def _bring_pending(self, draw: Draw) -> None:
        if self.pending:
            draw.old_terms = {name: getattr(self, name) for name in self.pending}
            draw.brought, self.applied_by = self.applied_by, draw
            self._use(self.pending)
            self.pending = {}

    def _use(self, terms: dict[str, int]) -> None:
        for name, value in terms.items():
            setattr(self, name, value)


@dataclass
class Win:
    """A win as the model knows it: what each meter gave, and the meters before it."""

    number: int
    table_id: str
    round_number: int
    amounts: dict[str, int]
    envy_cents: int
    draws: dict[str, Draw]
    bases: dict[str, int]
    epochs: dict[str, int]
    reversed: bool = False

    def spends(self, meter_id: str) -> bool:
        return meter_id in self.draws and self.draws[meter_id].reseeded


def basis_of(
    wins: list[Win], table_id: str, round_number: int, meter_id: str
) -> tuple[int | None, bool]:
    """What a round's winners are measured on, and whether the meter was emptied in it."""
    standing = [
        win
        for win in wins
        if (win.table_id, win.round_number) == (table_id, round_number)
        and not win.reversed
        and meter_id in win.bases
    ]
    if not standing:
        return None, False
    return standing[0].bases[meter_id], any(win.spends(meter_id) for win in standing)
