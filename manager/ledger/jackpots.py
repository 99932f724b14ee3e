"""The meters: their terms, their opening entry and their state.

The only reader of a meter's accounts and the only writer of openings. A meter cannot exist without
an opening entry that explains its first amount (WAC 230-15-685). Wagers and awards are elsewhere;
so is the procedure by which terms change (`changes_of_terms`), which is recorded here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

from kit.words.numbers import money
from manager.ledger.engines.relations import JACKPOTS, TRANSACTIONS, Row
from manager.ledger.errors import LedgerError
from manager.ledger.pricing import MeterState
from manager.ledger.store import accounts
from manager.ledger.store.entries import Entry, Kind, Reference, postings
from manager.ledger.store.store import Store
from manager.ledger.terms import FROM_METER, FROM_TRAY, Jackpot
from manager.money import CENTS_MAX, MICROCENTS_PER_CENT, whole

__all__ = [
    "FROM_METER",
    "FROM_TRAY",
    "Jackpot",
    "Jackpots",
    "Standing",
    "standing_in",
    "state_of",
    "terms_from",
    "terms_text",
]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a jackpot stands: the terms in force, the ones its next reseed brings, if it is open."""

    terms: Jackpot
    pending: Jackpot | None = None
    applied_by: int = 0  # the reseed that brought the terms in force, 0 = the opening
    suspended: str = ""  # why, "" = in operation
    closed: bool = False

    def with_limit(self, limit_cents: int) -> Standing:
        """Another highest amount to be shown, for the terms in force and for those that wait."""
        pending = self.pending.with_limit(limit_cents) if self.pending else None
        return replace(self, terms=self.terms.with_limit(limit_cents), pending=pending)

    @property
    def stopped(self) -> str:
        """Why its tables may not start a game, "" when they may."""
        if self.closed:
            return f"Jackpot {self.terms.label} is closed for good. No game can start."
        if self.suspended:
            return f"{self.terms.label} is suspended. No game can start."
        return ""


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
            f"Meter {jackpot.id} opened at {money(jackpot.opening_cents)} by the house.",
            postings((accounts.HOUSE_SEED, -opening), (accounts.meter_house(jackpot.id), opening)),
            detail=asdict(jackpot),
        )
        with self._store.transaction():
            number = self._store.append(entry)
            self._store.put(JACKPOTS, (jackpot.id, terms_text(jackpot), "", 0, "", 0))
        return number

    def restate_opening(self, meter_id: str, opening_cents: int) -> None:
        """Another beginning amount, by a compensating entry; only before any play."""
        jackpot = self.get(meter_id)
        if not 0 <= whole(opening_cents, "The opening amount") <= CENTS_MAX:
            raise LedgerError("The opening amount is out of range.")
        if jackpot.is_house:
            raise LedgerError(f"The posted prize of {meter_id} changes by its terms alone.")
        if jackpot.limit_cents and opening_cents > jackpot.limit_cents:
            raise LedgerError(f"The opening amount of meter {meter_id} is above its limit.")
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
                f"Opening of meter {jackpot.id} restated to {money(opening_cents)}"
                " before its first wager.",
                postings((accounts.HOUSE_SEED, -change), (accounts.meter_house(meter_id), change)),
            )
        )

    # -- terms -------------------------------------------------------------------------------

    def find(self, meter_id: str) -> Jackpot | None:
        """The terms in force."""
        row = self._store.get(JACKPOTS, meter_id)
        return terms_from(row[1]) if row else None

    def get(self, meter_id: str) -> Jackpot:
        jackpot = self.find(meter_id)
        if jackpot is None:
            raise LedgerError(f"There is no meter {meter_id}.")
        return jackpot

    def all(self) -> list[Jackpot]:
        return [terms_from(row[1]) for row in self._store.find(JACKPOTS, {})]

    def opened_with(self, meter_id: str) -> Jackpot | None:
        """The terms of the opening entry, whatever became of them since."""
        openings = {"table_id": "", "round_number": 0, "kind": str(Kind.OPENING)}
        for row in self._store.find(TRANSACTIONS, openings):
            detail = row[TRANSACTIONS.place("detail")]
            if json.loads(detail).get("id") == meter_id:
                return terms_from(detail)
        return None

    def standing(self, meter_id: str) -> Standing:
        row = self._store.get(JACKPOTS, meter_id)
        if row is None:
            raise LedgerError(f"There is no meter {meter_id}.")
        return standing_in(row)

    def keep(self, meter_id: str, standing: Standing) -> None:
        """Writes how the jackpot now stands; the transaction that says why was just appended."""
        terms = terms_text(standing.terms)
        pending = terms_text(standing.pending) if standing.pending else ""
        stands = (standing.applied_by, standing.suspended, int(standing.closed))
        self._store.put(JACKPOTS, (meter_id, terms, pending, *stands))

    # -- amounts -----------------------------------------------------------------------------

    def state(self, meter_id: str) -> MeterState:
        """The meter as the ledger's balances have it now."""
        balance = self._store.balance
        amounts = [balance(account) for account in accounts.parts(meter_id)]
        return state_of(self.standing(meter_id), amounts)

    def states(self, meter_ids: Iterable[str]) -> dict[str, MeterState]:
        return {meter_id: self.state(meter_id) for meter_id in meter_ids}

    def state_before(self, meter_id: str, number: int) -> MeterState:
        """The meter's money as it was before a transaction, under the terms of today."""
        found: Counter[str] = Counter()
        for account, moved in self._store.everywhere(
            "SELECT account, sum(amount_microcents) FROM postings"
            " WHERE account IN (?, ?, ?) AND transaction_number < ? GROUP BY account",
            (*accounts.parts(meter_id), number),
        ):
            found[account] += int(moved)
        amounts = [found[account] for account in accounts.parts(meter_id)]
        return state_of(self.standing(meter_id), amounts)

    def _has_played(self, meter_id: str) -> bool:
        played = self._store.everywhere(
            "SELECT 1 FROM postings p JOIN transactions t ON t.number = p.transaction_number"
            " WHERE p.account IN (?, ?, ?) AND t.kind NOT IN (?, ?) LIMIT 1",
            (*accounts.parts(meter_id), Kind.OPENING, Kind.OPENING_RESTATED),
        )
        return any(played)


def standing_in(row: Row) -> Standing:
    """How the jackpot of this row stands."""
    _, terms, waiting, applied_by, suspended, closed = row
    pending = terms_from(waiting) if waiting else None
    return Standing(terms_from(terms), pending, applied_by, suspended, bool(closed))


def state_of(standing: Standing, amounts: Sequence[int]) -> MeterState:
    """The meter with these amounts on its accounts, in the order of `accounts.parts`."""
    terms, coming = standing.terms, standing.pending or standing.terms
    player, house, reserve = amounts
    return MeterState(
        terms.id,
        coming.seed_cents * MICROCENTS_PER_CENT,
        player,
        house,
        reserve,
        policy=terms.award_policy,
        posted=terms.is_house,
        limit_microcents=terms.limit_cents * MICROCENTS_PER_CENT,
    )


def terms_text(jackpot: Jackpot) -> str:
    return json.dumps(asdict(jackpot), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@lru_cache(maxsize=256)
def terms_from(text: str) -> Jackpot:
    """Terms from their stored text."""
    return Jackpot(**json.loads(text))
