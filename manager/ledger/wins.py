"""The wins: one record per committed claim, numbered in the order the manager booked them.

That order is the order of wins when two tables hit nearly together. Records are append-only; a
mistake is put right by an entry of its own, never here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from manager.ledger.claims import Claim
from manager.ledger.entries import Kind
from manager.ledger.rules import TableRules
from manager.ledger.store import Store
from protocol.rows import EnvyLine

METHOD_OPERATOR = 4  # beside the protocol's methods: recorded here, not at a table


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
    level: str
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


class Wins:
    def __init__(self, store: Store) -> None:
        self._store = store

    def record(self, claim: Claim, rules: TableRules, authorisation: Authorisation) -> int:
        """Writes the win of a claim whose money has just been booked; returns its number."""
        number = self.count() + 1
        self._store.execute(
            "INSERT INTO wins VALUES (?,?,?,?,?,?,?,?,?)",
            (
                number,
                claim.table_id,
                claim.number,
                claim.round_number,
                self._store.now_ms,
                authorisation.method,
                authorisation.authorised_by,
                authorisation.role,
                int(claim.frozen),
            ),
        )
        for position, (line, shown) in enumerate(
            zip(claim.lines, claim.shown, strict=True), start=1
        ):
            label = rules.hand(line.sensor, line.hand).label
            self._store.execute(
                "INSERT INTO win_lines VALUES (?,?,?,?,?,?,?,?,?,?)",
                (
                    number,
                    position,
                    line.sensor,
                    line.hand,
                    label,
                    line.amount_cents,
                    line.level,
                    line.source,
                    *shown,
                ),
            )
        for position, envy in enumerate(claim.envy, start=1):
            self._store.execute("INSERT INTO win_envy VALUES (?,?,?,?)", (number, position, *envy))
        for meter_id in sorted(claim.meter_ids):
            self._store.execute(
                "INSERT INTO win_policies VALUES (?,?,?)",
                (number, meter_id, rules.jackpots[meter_id].award_policy),
            )
        return number

    def note_reversal(self, number: int, transaction_number: int) -> None:
        self._store.execute("INSERT INTO win_reversals VALUES (?,?)", (number, transaction_number))

    def note_replacement(self, number: int, replaces: int) -> None:
        self._store.execute("INSERT INTO win_replacements VALUES (?,?)", (number, replaces))

    def reversed_numbers(self, table_id: str, round_number: int) -> set[int]:
        """The wins of a round that were taken back."""
        rows = self._store.rows(
            "SELECT r.win_number FROM win_reversals r JOIN wins w ON w.number = r.win_number"
            " WHERE w.table_id = ? AND w.round_number = ?",
            (table_id, round_number),
        )
        return {row[0] for row in rows}

    def count(self) -> int:
        row = self._store.row("SELECT coalesce(max(number), 0) FROM wins")
        return int(row[0]) if row else 0

    def find(self, number: int) -> Win | None:
        row = self._store.row("SELECT * FROM wins WHERE number = ?", (number,))
        return self._win(row) if row else None

    def newest(self, count_max: int) -> list[Win]:
        rows = self._store.rows("SELECT * FROM wins ORDER BY number DESC LIMIT ?", (count_max,))
        return [self._win(row) for row in rows]

    def of_round(self, table_id: str, round_number: int) -> list[Win]:
        rows = self._store.rows(
            "SELECT * FROM wins WHERE table_id = ? AND round_number = ? ORDER BY number",
            (table_id, round_number),
        )
        return [self._win(row) for row in rows]

    def claimed_on(self, win: Win) -> dict[str, int]:
        """What each percentage of a win fixed at its claim was measured on, in micro-cents."""
        row = self._store.row(
            "SELECT detail FROM transactions WHERE table_id = ? AND round_number = ? AND kind = ?"
            " AND claim_number = ? ORDER BY number DESC LIMIT 1",
            (win.table_id, win.round_number, Kind.CLAIM_LOGGED, win.claim_number),
        )
        measures = json.loads(row[0]).get("measures", {}) if row and win.frozen else {}
        return {
            sensor: measure["basis_microcents"] for sensor, measure in measures.items() if measure
        }

    def _win(self, row: tuple[Any, ...]) -> Win:
        columns = "sensor, hand, hand_label, amount_cents, level, source"
        lines = self._store.rows(
            f"SELECT {columns}, meter_before_cents, meter_after_cents FROM win_lines"
            " WHERE win_number = ? ORDER BY position",
            (row[0],),
        )
        envy = self._store.rows(
            "SELECT sensor, amount_cents FROM win_envy WHERE win_number = ? ORDER BY position",
            (row[0],),
        )
        return Win(
            number=row[0],
            table_id=row[1],
            claim_number=row[2],
            round_number=row[3],
            commit_ms=row[4],
            method=row[5],
            authorised_by=row[6],
            role=row[7],
            frozen=bool(row[8]),
            lines=tuple(WinLine(*line) for line in lines),
            envy=tuple(EnvyLine(*line) for line in envy),
            policies=tuple(
                self._store.rows(
                    "SELECT meter_id, policy FROM win_policies WHERE win_number = ?"
                    " ORDER BY meter_id",
                    (row[0],),
                )
            ),
            reversed_by=self._one(
                "SELECT transaction_number FROM win_reversals WHERE win_number = ?", row[0]
            ),
            replaces=self._one(
                "SELECT replaces FROM win_replacements WHERE win_number = ?", row[0]
            ),
            replaced_by=self._one(
                "SELECT win_number FROM win_replacements WHERE replaces = ?", row[0]
            ),
        )

    def _one(self, query: str, number: int) -> int:
        found = self._store.row(query, (number,))
        return int(found[0]) if found else 0
