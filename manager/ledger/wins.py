"""The wins: one record per committed claim, numbered in the order the manager booked them.

That order is the order of wins when two tables hit nearly together. Records are append-only; a
mistake is put right by an entry of its own, never here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

from manager.ledger.claims import ClaimRecord
from manager.ledger.engines.relations import (
    TRANSACTIONS,
    WIN_ENVY,
    WIN_LINES,
    WIN_POLICIES,
    WIN_REPLACEMENTS,
    WIN_REVERSALS,
    WINS,
    Relation,
    Row,
)
from manager.ledger.rules import TableRules
from manager.ledger.store.entries import Kind
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store
from protocol.wire.rows import EnvyLine

METHOD_OPERATOR = 4  # beside the protocol's methods: recorded here, not at a table


KEPT_MAX = 256


@dataclass(frozen=True, slots=True)
class Authorisation:
    """How a win was authorised, and by whom as the record names them."""

    method: int
    authorised_by: str
    role: int


@dataclass(frozen=True, slots=True)
class WinLine:
    sensor: str
    hand: str
    hand_label: str
    amount_cents: int
    meter_id: str
    source: int
    meter_before_cents: int
    meter_after_cents: int


@dataclass(frozen=True, slots=True)
class Win:
    number: int
    table_id: str
    claim_number: int
    round_number: int
    commit_ms: int
    method: int
    authorised_by: str
    role: int
    frozen: bool
    lines: tuple[WinLine, ...]
    envy: tuple[EnvyLine, ...]
    policies: tuple[tuple[str, str], ...] = ()  # (meter, award policy) as it was paid by
    reversed_by: int = 0  # the transaction that took the win back, 0 = it stands
    replaces: int = 0  # the reversed win that this one was recorded for, 0 = none
    replaced_by: int = 0  # the win that was recorded instead of this one, 0 = none


class _Parts(NamedTuple):
    lines: tuple[WinLine, ...]
    envy: tuple[EnvyLine, ...]
    policies: tuple[tuple[str, str], ...]


class WinsRead:
    """The wins as anybody may read them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._kept: dict[int, _Parts] = {}  # of the wins that pages show again and again

    def reversed_numbers(self, table_id: str, round_number: int) -> set[int]:
        """The wins of a round that were taken back."""
        numbers = [row[0] for row in self._of_round(table_id, round_number)]
        return {number for number in numbers if self._ledger.get(WIN_REVERSALS, number)}

    def find(self, number: int) -> Win | None:
        row = self._ledger.get(WINS, number)
        return self._win(row) if row else None

    def newest(self, count_max: int) -> list[Win]:
        return [self._win(row) for row in self._ledger.find(WINS, {}, newest=count_max)]

    def newest_of(self, table_id: str, count_max: int) -> list[Win]:
        rows = self._ledger.find(WINS, {"table_id": table_id}, newest=count_max)
        return [self._win(row) for row in rows]

    def of_round(self, table_id: str, round_number: int) -> list[Win]:
        return [self._win(row) for row in self._of_round(table_id, round_number)]

    def first_from(self, time_ms: int) -> int:
        """The first win of that moment or later: they are numbered as they were booked.

        One beyond the last when there is none.
        """
        newest = self._ledger.find(WINS, {}, newest=1)
        low, high = 1, (int(newest[0][0]) if newest else 0) + 1
        while low < high:
            middle = (low + high) // 2
            row = self._ledger.get(WINS, middle)
            assert row is not None
            if row[WINS.place("commit_ms")] >= time_ms:
                high = middle
            else:
                low = middle + 1
        return low

    def claimed_on(self, win: Win) -> dict[str, int]:
        """What each percentage of a win fixed at its claim was measured on, in micro-cents."""
        place = {
            "table_id": win.table_id,
            "round_number": win.round_number,
            "kind": str(Kind.CLAIM_LOGGED),
            "claim_number": win.claim_number,
        }
        logged = self._ledger.find(TRANSACTIONS, place, newest=1)
        detail = logged[0][TRANSACTIONS.place("detail")] if logged and win.frozen else "{}"
        measures = json.loads(detail).get("measures", {})
        return {
            sensor: measure["basis_microcents"] for sensor, measure in measures.items() if measure
        }

    def _of_round(self, table_id: str, round_number: int) -> list[Row]:
        return self._ledger.find(WINS, {"table_id": table_id, "round_number": round_number})

    def _win(self, row: Row) -> Win:
        number, table_id, claim_number, round_number, commit_ms, method, by, role, frozen = row
        lines, envy, policies = self._parts(number)
        replaced_by = self._ledger.find(WIN_REPLACEMENTS, {"replaces": number})
        return Win(
            number,
            table_id,
            claim_number,
            round_number,
            commit_ms,
            method,
            by,
            role,
            bool(frozen),
            lines=lines,
            envy=envy,
            policies=policies,
            reversed_by=self._second(WIN_REVERSALS, number),
            replaces=self._second(WIN_REPLACEMENTS, number),
            replaced_by=replaced_by[0][0] if replaced_by else 0,
        )

    def _parts(self, number: int) -> _Parts:
        """What never changes of a win that stands."""
        kept = self._kept.get(number)
        if kept is not None:
            return kept
        own, find = {"win_number": number}, self._ledger.find
        parts = _Parts(
            tuple(WinLine(*line[2:]) for line in find(WIN_LINES, own)),
            tuple(EnvyLine(*line[2:]) for line in find(WIN_ENVY, own)),
            tuple((each[1], each[2]) for each in find(WIN_POLICIES, own)),
        )
        if not self._ledger.is_in_step:  # a step may still be taken back
            if len(self._kept) >= KEPT_MAX:
                self._kept.clear()
            self._kept[number] = parts
        return parts

    def _second(self, relation: Relation, number: int) -> int:
        found = self._ledger.get(relation, number)
        return int(found[1]) if found else 0


class Wins(WinsRead):
    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store

    def record(self, claim: ClaimRecord, rules: TableRules, authorisation: Authorisation) -> int:
        """Writes the win of a claim whose money has just been booked; returns its number."""
        number = self.count() + 1
        by = (authorisation.method, authorisation.authorised_by, authorisation.role)
        place = (claim.table_id, claim.number, claim.round_number)
        self._store.put(WINS, (number, *place, self._store.now_ms, *by, int(claim.frozen)))
        for position, (line, shown) in enumerate(
            zip(claim.lines, claim.shown, strict=True), start=1
        ):
            label = rules.hand(line.sensor, line.hand).label
            paid = (line.amount_cents, line.meter_id, line.source)
            row = (number, position, line.sensor, line.hand, label, *paid, *shown)
            self._store.put(WIN_LINES, row)
        for position, envy in enumerate(claim.envy, start=1):
            self._store.put(WIN_ENVY, (number, position, *envy))
        for meter_id in sorted(claim.meter_ids):
            policy = rules.jackpots[meter_id].award_policy
            self._store.put(WIN_POLICIES, (number, meter_id, policy))
        return number

    def note_reversal(self, number: int, transaction_number: int) -> None:
        self._store.put(WIN_REVERSALS, (number, transaction_number))

    def note_replacement(self, number: int, replaces: int) -> None:
        self._store.put(WIN_REPLACEMENTS, (number, replaces))

    def count(self) -> int:
        newest = self._store.newest(WINS)
        return int(newest[0]) if newest else 0
