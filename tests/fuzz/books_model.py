"""A small model of jackpots by the book's words: policies, limits, terms, reversals.

It shares no code with the ledger. Amounts are micro-cents unless their name says cents. Awards on
different meters never touch each other, so each meter is settled alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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
        contribution = WAGER_CENTS * self.contribution_ppm
        reserve = WAGER_CENTS * self.reserve_ppm
        shown = contribution
        if self.limit:
            shown = min(contribution, max(0, self.limit - self.total))
        self.player += shown
        self.reserve += reserve + contribution - shown
        return contribution + reserve

    def pay(self, shares_ppm: list[int], basis: int | None, spent: bool) -> tuple[list[int], Draw]:
        """Settles one claim's percentages in pay order; cents for each, and what moved."""
        draw = Draw()
        if self.policy == "each_full":
            whole = self.total if basis is None else basis
            amounts = [_cents(whole, share) for share in shares_ppm]
            for amount in amounts:
                self._take(amount * CENT, draw, only_house=self.posted or spent)
            if WHOLE in shares_ppm and not self.posted and not spent:
                self._reseed(draw)
        elif self.policy == "equal_share" and WHOLE in shares_ppm:
            amounts = self._shared(shares_ppm, draw)
        else:
            amounts = self._one_by_one(shares_ppm, draw)
        self.epoch += 1
        return amounts, draw

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

    def _one_by_one(self, shares_ppm: list[int], draw: Draw) -> list[int]:
        amounts: list[int] = []
        for share in shares_ppm:
            amounts.append(_cents(self.total, share))
            self._take(amounts[-1] * CENT, draw)
            if share == WHOLE:
                self._reseed(draw)
        return amounts

    def _shared(self, shares_ppm: list[int], draw: Draw) -> list[int]:
        first = shares_ppm.index(WHOLE)
        before = self._one_by_one(shares_ppm[:first], draw)
        count = shares_ppm.count(WHOLE)
        each = self.total // CENT // count
        self._take(each * count * CENT, draw)
        self._reseed(draw)
        others = [share for share in shares_ppm[first:] if share != WHOLE]
        after = iter(self._one_by_one(others, draw))
        tail = [each if share == WHOLE else next(after) for share in shares_ppm[first:]]
        return before + tail

    def _take(self, amount: int, draw: Draw, only_house: bool = False) -> None:
        player = 0 if only_house else min(amount, self.player)
        house = 0 if only_house else min(amount - player, self.house)
        self.player -= player
        self.house -= house
        draw.player += player
        draw.house += house
        draw.pocket += amount - player - house

    def _reseed(self, draw: Draw) -> None:
        if self.pending:
            draw.old_terms = {name: getattr(self, name) for name in self.pending}
            draw.brought, self.applied_by = self.applied_by, draw
            self._use(self.pending)
            self.pending = {}
        reserve = self.reserve
        if self.limit:
            reserve = min(reserve, max(0, self.limit - self.total - self.seed))
        self.house += self.seed
        self.player += reserve
        self.reserve -= reserve
        draw.seed += self.seed
        draw.reserve += reserve
        draw.reseeded = True

    def _use(self, terms: dict[str, int]) -> None:
        for name, value in terms.items():
            setattr(self, name, value)


def _cents(total: int, share_ppm: int) -> int:
    """Truncated by taking the remainder away, not by dividing."""
    exact = total * share_ppm
    unit = WHOLE * CENT
    return (exact - exact % unit) // unit


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
