"""Pays what was settled: awards, reseeds with the terms they bring, envy; and warns of low meters.

It also knows what a round's earlier claims mean for a later one: under `each_full` all winners of a
round are measured on the same meter, and under `equal_share` they must be claimed together. What is
claimed, and who authorised it, is `book`'s business.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from manager.ledger.alarms import Alarms
from manager.ledger.awards import posting
from manager.ledger.awards.settling import settle
from manager.ledger.claims import ClaimRecord
from manager.ledger.errors import BookingRefused
from manager.ledger.jackpots import Jackpots
from manager.ledger.pricing import EACH_FULL, EQUAL_SHARE, MeterState, Movement, Pay
from manager.ledger.store.entries import EventSource, Kind, Reference
from manager.ledger.store.store import Store

# What takes a claim's awards back: its reversal, or its cancelling when it was owed.
_UNDOING = (Kind.REVERSAL, Kind.GIVEN_BACK)


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
        # Winners of one round may be claimed one after another. The second must be measured on what
        # the first was, or the order in which hands are pressed would decide what they are worth.
        known = {
            meter_id: self._in_round(table_id, round_number, state)
            for meter_id, state in meters.items()
        }
        movements, after = settle(pays, known, fixed)
        # What this round did to a meter says nothing about the next claim, which may be another's.
        plain = {
            meter_id: replace(state, full_microcents=None, spent=False)
            for meter_id, state in after.items()
        }
        return movements, plain

    def refuse_second_share(self, table_id: str, round_number: int, pays: Sequence[Pay]) -> None:
        """A shared award cannot be divided anew after one of its winners was paid all of it."""
        for pay in pays:
            # Only a 100 % award is shared. A part of the meter is each winner's own.
            if not pay.takes_all or self._jackpots.get(pay.meter_id).award_policy != EQUAL_SHARE:
                continue
            paid = self._paid(table_id, round_number, pay.meter_id)
            if paid is not None and paid.spent:
                raise BookingRefused(
                    f"Meter {pay.meter_id} is shared by a round's winners and was paid already:"
                    " reverse that win, then record all winners together."
                )

    def book(
        self,
        claim: ClaimRecord,
        movements: Sequence[Movement],
        payee: str,
        origin: EventSource,
        said: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
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

    def give_back(self, claim: ClaimRecord, origin: EventSource) -> None:
        """Undoes what a claim set aside because a later one was paid first.

        Only awards and envy: the reseed that followed may have been paid out since.
        """
        set_aside: defaultdict[str, int] = defaultdict(int)
        # Summed over all its entries, so that one entry undoes the claim and reads as one act.
        for booked in self._store.booked(claim.table_id, claim.round_number):
            if booked.claim_number == claim.number and booked.kind in (Kind.AWARD, Kind.ENVY):
                for account, amount in self._store.postings(booked.number):
                    set_aside[account] += amount
        moved = sorted(set_aside.items())
        entry = posting.given_back_entry(moved, reference_of(claim), origin)
        self._store.append(entry)

    # -- inside ------------------------------------------------------------------------------

    def _book_movement(
        self,
        claim: ClaimRecord,
        movement: Movement,
        payee: str,
        origin: EventSource,
        said: Mapping[str, Any],
    ) -> list[int]:
        place = reference_of(claim, movement.pay.sensor)
        entry = posting.award_entry(movement, claim.table_id, payee, place, origin)
        numbers = [self._store.append(entry._replace(detail={**entry.detail, **said}))]
        if movement.reseeds:
            numbers.append(self._book_reseed(movement, place, origin))
        self._warn_of_a_low_meter(claim, movement, origin)
        return numbers

    def _book_reseed(self, movement: Movement, place: Reference, origin: EventSource) -> int:
        meter_id = movement.pay.meter_id
        standing = self._jackpots.standing(meter_id)
        terms: dict[str, Any] = {}
        # Changed terms wait for the next reseed: nobody's jackpot changes under the bets it was
        # promised to.
        if standing.pending is not None:
            terms = {
                "from": asdict(standing.terms),
                "to": asdict(standing.pending),
                "from_applied_by": standing.applied_by,
            }
        # The terms before are in the entry, so that a reversal can put them back in force.
        number = self._store.append(posting.reseed_entry(movement, place, origin, terms))
        if standing.pending is not None:
            brought = replace(standing, terms=standing.pending, pending=None, applied_by=number)
            self._jackpots.keep(meter_id, brought)
        return number

    def _warn_of_a_low_meter(
        self, claim: ClaimRecord, movement: Movement, origin: EventSource
    ) -> None:
        before, after = movement.before, movement.after
        if before is None or after is None or before.posted:
            return
        record = self._alarms.record
        # Under `each_full` the house pays the difference by design, so a shortfall there is no
        # news.
        if movement.shortfall_microcents and before.policy != EACH_FULL:
            sentence = f"Meter {after.meter_id} ran dry; the house paid the rest of an award."
            record("METER_DRY", sentence, claim.table_id, origin)
        # Only the award that crosses the line tells of it, not every one after.
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
        booked = self._store.booked(table_id, round_number)
        # A win that was taken back measures nobody: the meter is as if it had not been.
        undone = {each.claim_number for each in booked if each.kind in _UNDOING}
        first: dict[str, int] | None = None
        spent = False
        for each in booked:
            if each.kind not in (Kind.AWARD, Kind.RESEED) or each.claim_number in undone:
                continue
            detail = json.loads(each.detail_text)
            if detail.get("meter") != meter_id:
                continue
            spent = spent or each.kind == Kind.RESEED
            # Booked in order, so the first award's `before` is the meter that the whole round stood
            # on.
            if each.kind == Kind.AWARD and first is None:
                first = detail["before"]
        if first is None:
            return None
        return _Paid(first["player_microcents"] + first["house_microcents"], spent)


def reference_of(claim: ClaimRecord, sensor: str = "") -> Reference:
    return Reference(claim.table_id, claim.round_number, sensor, claim.number)
