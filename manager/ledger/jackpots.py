"""The meters: their terms, their opening entry and their state.

The only reader of a meter's accounts and the only writer of openings. A meter cannot exist without
an opening entry that explains its first amount (WAC 230-15-685). Wagers and awards are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from manager.ledger import accounts
from manager.ledger.entries import Entry, Kind, Reference, postings
from manager.ledger.errors import LedgerError
from manager.ledger.pricing import MeterState, Rate
from manager.ledger.store import Store
from manager.money import (
    CENTS_MAX,
    MICROCENTS_PER_CENT,
    PARTS_PER_MILLION,
    text_from_cents,
    whole,
)

FROM_TRAY = "tray"
FROM_METER = "meter"


@dataclass(frozen=True, slots=True)
class Jackpot:
    """One meter's terms, as the house chose them at set-up."""

    id: str
    label: str
    seed_cents: int
    opening_cents: int
    contribution_ppm: int
    reserve_ppm: int
    claim_lock: bool
    fixed_pays_from: str

    def __post_init__(self) -> None:
        for name in ("seed_cents", "opening_cents"):
            if not 0 <= whole(getattr(self, name), f"{self.id} {name}") <= CENTS_MAX:
                raise LedgerError(f"The {name} of meter {self.id} is out of range.")
        for name in ("contribution_ppm", "reserve_ppm"):
            if whole(getattr(self, name), f"{self.id} {name}") < 0:
                raise LedgerError(f"The {name} of meter {self.id} must not be negative.")
        if self.contribution_ppm + self.reserve_ppm > PARTS_PER_MILLION:
            raise LedgerError(f"Meter {self.id} would take more than the whole wager.")
        if self.fixed_pays_from not in (FROM_TRAY, FROM_METER):
            raise LedgerError(f"Fixed pays of meter {self.id} come from tray or meter.")

    @property
    def rate(self) -> Rate:
        return Rate(self.id, self.contribution_ppm, self.reserve_ppm)


class Jackpots:
    def __init__(self, store: Store) -> None:
        self._store = store

    def open(self, jackpot: Jackpot) -> int:
        """Writes the terms and the opening entry; returns the entry's number."""
        if self.find(jackpot.id) is not None:
            raise LedgerError(f"Meter {jackpot.id} is open already.")
        opening = jackpot.opening_cents * MICROCENTS_PER_CENT
        entry = Entry(
            Kind.OPENING,
            Reference(),
            f"Meter {jackpot.id} opened at {text_from_cents(jackpot.opening_cents)} by the house.",
            postings((accounts.HOUSE_SEED, -opening), (accounts.meter_house(jackpot.id), opening)),
            detail=asdict(jackpot),
        )
        with self._store.transaction():
            self._store.execute(
                "INSERT INTO jackpots VALUES (?,?,?,?,?,?,?,?)", tuple(asdict(jackpot).values())
            )
            return self._store.append(entry)

    def restate_opening(self, meter_id: str, opening_cents: int) -> None:
        """Another beginning amount, by a compensating entry; only before any play."""
        jackpot = self.get(meter_id)
        if not 0 <= whole(opening_cents, "The opening amount") <= CENTS_MAX:
            raise LedgerError("The opening amount is out of range.")
        if self._has_played(meter_id):
            raise LedgerError(
                f"Meter {meter_id} has taken wagers; its opening amount can no longer be restated."
            )
        house = self.state(meter_id).house_microcents
        change = opening_cents * MICROCENTS_PER_CENT - house
        if change == 0:
            return
        self._store.append(
            Entry(
                Kind.OPENING_RESTATED,
                Reference(),
                f"Opening of meter {jackpot.id} restated to {text_from_cents(opening_cents)}"
                " before its first wager.",
                postings((accounts.HOUSE_SEED, -change), (accounts.meter_house(meter_id), change)),
            )
        )

    def find(self, meter_id: str) -> Jackpot | None:
        row = self._store.row("SELECT * FROM jackpots WHERE id = ?", (meter_id,))
        return _jackpot(row) if row else None

    def get(self, meter_id: str) -> Jackpot:
        jackpot = self.find(meter_id)
        if jackpot is None:
            raise LedgerError(f"There is no meter {meter_id}.")
        return jackpot

    def all(self) -> list[Jackpot]:
        return [_jackpot(row) for row in self._store.rows("SELECT * FROM jackpots ORDER BY id")]

    def state(self, meter_id: str) -> MeterState:
        """The meter as the ledger's balances have it now."""
        balance = self._store.balance
        return MeterState(
            meter_id,
            self.get(meter_id).seed_cents * MICROCENTS_PER_CENT,
            balance(accounts.meter_player(meter_id)),
            balance(accounts.meter_house(meter_id)),
            balance(accounts.reserve(meter_id)),
        )

    def states(self, meter_ids: Iterable[str]) -> dict[str, MeterState]:
        return {meter_id: self.state(meter_id) for meter_id in meter_ids}

    def _has_played(self, meter_id: str) -> bool:
        touched = (
            accounts.meter_house(meter_id),
            accounts.meter_player(meter_id),
            accounts.reserve(meter_id),
        )
        row = self._store.row(
            "SELECT 1 FROM postings p JOIN transactions t ON t.number = p.transaction_number"
            " WHERE p.account IN (?, ?, ?) AND t.kind NOT IN (?, ?) LIMIT 1",
            (*touched, Kind.OPENING, Kind.OPENING_RESTATED),
        )
        return row is not None


def _jackpot(row: tuple[object, ...]) -> Jackpot:
    identity, label, seed, opening, contribution, reserve, claim_lock, fixed_pays_from = row
    return Jackpot(
        str(identity),
        str(label),
        whole(seed, "seed"),
        whole(opening, "opening"),
        whole(contribution, "contribution"),
        whole(reserve, "reserve"),
        bool(claim_lock),
        str(fixed_pays_from),
    )
