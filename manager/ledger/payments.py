"""Pays what was settled: awards, reseeds with the terms they bring, envy; and warns of low meters.

It also knows what a round's earlier claims mean for a later one: under `each_full` all winners of a
round are measured on the same meter, and under `equal_share` they must be claimed together. What is
claimed, and who authorised it, is `book`'s business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from manager.ledger import posting
from manager.ledger.alarms import Alarms
from manager.ledger.claims import Claim
from manager.ledger.entries import Kind, Origin, Reference
from manager.ledger.errors import Refused
from manager.ledger.jackpots import Jackpots
from manager.ledger.pricing import EACH_FULL, EQUAL_SHARE, MeterState, Movement, Pay
from manager.ledger.settling import settle
from manager.ledger.store import Store


@dataclass(frozen=True, slots=True)
class _Paid:
    """What a round already paid from a meter: the meter before it, and whether it was emptied."""

    full_microcents: int
    spent: bool


class Payments:
    def __init__(self, store: Store, jackpots: Jackpots, alarms: Alarms) -> None:
        self._store = store
        self._jackpots = jackpots
        self._alarms = alarms

    def settle(
        self,
        table_id: str,
        round_number: int,
        pays: Sequence[Pay],
        meters: Mapping[str, MeterState],
        fixed: Sequence[int] | None = None,
    ) -> tuple[list[Movement], dict[str, MeterState]]:
        """Settles on copies, with what the round's earlier claims were paid in mind."""
        known = {
            meter_id: self._in_round(table_id, round_number, state)
            for meter_id, state in meters.items()
        }
        movements, after = settle(pays, known, fixed)
        plain = {
            meter_id: replace(state, full_microcents=None, spent=False)
            for meter_id, state in after.items()
        }
        return movements, plain

    def refuse_second_share(self, table_id: str, round_number: int, pays: Sequence[Pay]) -> None:
        """A shared award cannot be divided anew after one of its winners was paid all of it."""
        for pay in pays:
            if not pay.takes_all or self._jackpots.get(pay.meter_id).award_policy != EQUAL_SHARE:
                continue
            paid = self._paid(table_id, round_number, pay.meter_id)
            if paid is not None and paid.spent:
                raise Refused(
                    f"Meter {pay.meter_id} is shared by a round's winners and was paid already:"
                    " reverse that win, then record all winners together."
                )

    def book(
        self,
        claim: Claim,
        movements: Sequence[Movement],
        payee: str,
        origin: Origin,
        said: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    ) -> list[int]:
        """Moves the money of a settled claim to `payee`; returns the transactions' numbers.

        `said` is what else the entry of an award should tell, by sensor.
        """
        numbers: list[int] = []
        for movement in movements:
            more = said.get(movement.pay.sensor, {})
            numbers += self._book_movement(claim, movement, payee, origin, more)
        for line in claim.envy:
            place = reference_of(claim, line.sensor)
            entry = posting.envy_entry(line, claim.table_id, payee, place, origin)
            numbers.append(self._store.append(entry))
        return numbers

    def give_back(self, claim: Claim, origin: Origin) -> None:
        """Undoes what a claim set aside because a later one was paid first.

        Only awards and envy: the reseed that followed may have been paid out since.
        """
        set_aside = self._store.rows(
            "SELECT p.account, sum(p.amount_microcents) FROM postings p"
            " JOIN transactions t ON t.number = p.transaction_number"
            " WHERE t.table_id = ? AND t.round_number = ? AND t.kind IN (?, ?)"
            " AND t.claim_number = ? GROUP BY p.account ORDER BY p.account",
            (claim.table_id, claim.round_number, Kind.AWARD, Kind.ENVY, claim.number),
        )
        entry = posting.given_back_entry(
            ((account, amount) for account, amount in set_aside), reference_of(claim), origin
        )
        self._store.append(entry)

    # -- inside ------------------------------------------------------------------------------

    def _book_movement(
        self,
        claim: Claim,
        movement: Movement,
        payee: str,
        origin: Origin,
        said: Mapping[str, int],
    ) -> list[int]:
        place = reference_of(claim, movement.pay.sensor)
        entry = posting.award_entry(movement, claim.table_id, payee, place, origin)
        numbers = [self._store.append(replace(entry, detail={**entry.detail, **said}))]
        if movement.reseeds:
            numbers.append(self._book_reseed(movement, place, origin))
        self._warn_of_a_low_meter(claim, movement, origin)
        return numbers

    def _book_reseed(self, movement: Movement, place: Reference, origin: Origin) -> int:
        meter_id = movement.pay.meter_id
        standing = self._jackpots.standing(meter_id)
        terms: dict[str, Any] = {}
        if standing.pending is not None:
            terms = {
                "from": asdict(standing.terms),
                "to": asdict(standing.pending),
                "from_applied_by": standing.applied_by,
            }
        number = self._store.append(posting.reseed_entry(movement, place, origin, terms))
        if standing.pending is not None:
            brought = replace(standing, terms=standing.pending, pending=None, applied_by=number)
            self._jackpots.keep(meter_id, brought)
        return number

    def _warn_of_a_low_meter(self, claim: Claim, movement: Movement, origin: Origin) -> None:
        before, after = movement.before, movement.after
        if before is None or after is None or before.posted:
            return
        record = self._alarms.record
        if movement.shortfall_microcents and before.policy != EACH_FULL:
            sentence = f"Meter {after.meter_id} ran dry; the house paid the rest of an award."
            record("METER_DRY", sentence, claim.table_id, origin)
        if after.total_microcents < after.seed_microcents <= before.total_microcents:
            sentence = f"Meter {after.meter_id} fell below its seed."
            record("BELOW_SEED", sentence, claim.table_id, origin)

    def _in_round(self, table_id: str, round_number: int, state: MeterState) -> MeterState:
        if state.policy != EACH_FULL or state.posted:
            return state
        paid = self._paid(table_id, round_number, state.meter_id)
        if paid is None:
            return state
        return replace(state, full_microcents=paid.full_microcents, spent=paid.spent)

    def _paid(self, table_id: str, round_number: int, meter_id: str) -> _Paid | None:
        """What claims of this round that still stand took from the meter."""
        rows = self._store.rows(
            "SELECT kind, detail FROM transactions t WHERE table_id = ? AND round_number = ?"
            " AND kind IN (?, ?) AND NOT EXISTS (SELECT 1 FROM wins w JOIN win_reversals r"
            " ON r.win_number = w.number WHERE w.table_id = t.table_id"
            " AND w.claim_number = t.claim_number) AND NOT EXISTS (SELECT 1 FROM transactions b"
            " WHERE b.table_id = t.table_id AND b.round_number = t.round_number AND b.kind = ?"
            " AND b.claim_number = t.claim_number) ORDER BY number",
            (table_id, round_number, Kind.AWARD, Kind.RESEED, Kind.GIVEN_BACK),
        )
        first: dict[str, int] | None = None
        spent = False
        for kind, text in rows:
            detail = json.loads(text)
            if detail.get("meter") != meter_id:
                continue
            spent = spent or kind == Kind.RESEED
            if kind == Kind.AWARD and first is None:
                first = detail["before"]
        if first is None:
            return None
        return _Paid(first["player_microcents"] + first["house_microcents"], spent)


def reference_of(claim: Claim, sensor: str = "") -> Reference:
    return Reference(claim.table_id, claim.round_number, sensor, claim.number)
