"""One jackpot's terms, as the house chose them: what is allowed, and what may change later.

Pure values with their rules. A progressive jackpot grows with every wager; a house jackpot is a
posted prize that never moves and is paid to each winner (WAC 230-15-671). Where terms are kept and
when a change takes effect is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from manager.ledger.errors import LedgerError
from manager.ledger.pricing import EACH_FULL, POLICIES, SEQUENTIAL, Rate
from manager.money import CENTS_MAX, MICROCENTS_PER_CENT, PARTS_PER_MILLION, whole

FROM_TRAY = "tray"
FROM_METER = "meter"
PROGRESSIVE = "progressive"
HOUSE = "house"
OVERFLOW_TO_RESERVE = "reserve"
OVERFLOW_TO_HOUSE = "house"

# What may change while a jackpot runs, from its next reseed on. The rest is part of the table's
# settings or of what the jackpot is.
CHANGEABLE = (
    "seed_cents",
    "contribution_ppm",
    "reserve_ppm",
    "freeze_claims",
    "award_policy",
    "overflow_to",
)


@dataclass(frozen=True, slots=True)
class Jackpot:
    """The terms of one meter. Amounts in cents; rates in parts per million of each wager."""

    id: str
    label: str
    seed_cents: int
    opening_cents: int
    contribution_ppm: int
    reserve_ppm: int
    freeze_claims: bool
    fixed_pays_from: str
    type: str = PROGRESSIVE
    award_policy: str = SEQUENTIAL
    limit_cents: int = 0  # 0 = none
    overflow_to: str = OVERFLOW_TO_RESERVE

    def __post_init__(self) -> None:
        for name in ("seed_cents", "opening_cents", "limit_cents"):
            if not 0 <= whole(getattr(self, name), f"{self.id} {name}") <= CENTS_MAX:
                raise LedgerError(f"The {name} of meter {self.id} is out of range.")
        for name in ("contribution_ppm", "reserve_ppm"):
            if whole(getattr(self, name), f"{self.id} {name}") < 0:
                raise LedgerError(f"The {name} of meter {self.id} must not be negative.")
        if self.contribution_ppm + self.reserve_ppm > PARTS_PER_MILLION:
            raise LedgerError(f"Meter {self.id} would take more than the whole wager.")
        self._check_choices()
        self._check_limit()
        if self.is_house:
            self._check_house()

    @property
    def is_house(self) -> bool:
        return self.type == HOUSE

    def with_limit(self, limit_cents: int) -> Jackpot:
        """An opening above a later limit is history, not a term that still has to hold."""
        opening_cents = min(self.opening_cents, limit_cents) if limit_cents else self.opening_cents
        return replace(self, limit_cents=limit_cents, opening_cents=opening_cents)

    def rate(self, shown_microcents: int = 0) -> Rate:
        """What it takes of a wager while this much is shown."""
        room = None
        if self.limit_cents:
            room = max(0, self.limit_cents * MICROCENTS_PER_CENT - shown_microcents)
        to_house = self.overflow_to == OVERFLOW_TO_HOUSE
        return Rate(self.id, self.contribution_ppm, self.reserve_ppm, room, to_house)

    def _check_choices(self) -> None:
        if self.fixed_pays_from not in (FROM_TRAY, FROM_METER):
            raise LedgerError(f"Fixed pays of meter {self.id} come from tray or meter.")
        if self.type not in (PROGRESSIVE, HOUSE):
            raise LedgerError(f"Meter {self.id} must be progressive or house.")
        if self.award_policy not in POLICIES:
            raise LedgerError(f"The award policy of meter {self.id} is none of {POLICIES}.")
        if self.overflow_to not in (OVERFLOW_TO_RESERVE, OVERFLOW_TO_HOUSE):
            raise LedgerError(f"The overflow of meter {self.id} goes to the reserve or the house.")

    def _check_limit(self) -> None:
        for name in ("seed_cents", "opening_cents"):
            if self.limit_cents and getattr(self, name) > self.limit_cents:
                raise LedgerError(f"The limit of meter {self.id} is below its {name}.")

    def _check_house(self) -> None:
        name = f"House jackpot {self.id}"
        if self.contribution_ppm or self.reserve_ppm:
            raise LedgerError(f"{name} never increments: its contribution and reserve must be 0.")
        if self.award_policy != EACH_FULL:
            raise LedgerError(f"{name} pays its posted prize to each winner: policy each_full.")
        if self.opening_cents != self.seed_cents:
            raise LedgerError(f"{name} has one posted prize: its opening must be its seed.")
        if self.limit_cents:
            raise LedgerError(f"{name} has a posted prize, which needs no limit.")
        if self.fixed_pays_from == FROM_METER:
            raise LedgerError(f"{name} has no meter to take fixed pays from.")
