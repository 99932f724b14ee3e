"""The rounds of each table: which bets were accepted, and whether the round is still on.

A round's accepted set is written once and never changes. What a bet is worth is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manager.ledger.errors import Refused
from manager.ledger.store import Store


@dataclass(frozen=True, slots=True)
class Round:
    table_id: str
    number: int
    accepted: tuple[str, ...]
    started_ms: int
    ended_ms: int  # 0 while the round is on
    joined: tuple[tuple[int, ...], ...] = ()  # seats that one player holds together

    @property
    def is_on(self) -> bool:
        return self.ended_ms == 0


class Rounds:
    def __init__(self, store: Store) -> None:
        self._store = store

    def start(
        self,
        table_id: str,
        number: int,
        accepted: Sequence[str],
        joined: Sequence[Sequence[int]] = (),
    ) -> None:
        self._store.execute(
            "INSERT INTO rounds VALUES (?, ?, ?, ?, 0)",
            (table_id, number, json.dumps(list(accepted)), self._store.now_ms),
        )
        if joined:
            self._store.execute(
                "INSERT INTO round_joins VALUES (?, ?, ?)", (table_id, number, json.dumps(joined))
            )

    def end(self, table_id: str, number: int) -> None:
        self._store.execute(
            "UPDATE rounds SET ended_ms = ? WHERE table_id = ? AND number = ?",
            (self._store.now_ms, table_id, number),
        )

    def latest(self, table_id: str) -> Round | None:
        row = self._store.row(
            "SELECT * FROM rounds WHERE table_id = ? ORDER BY number DESC LIMIT 1", (table_id,)
        )
        return self._round(row) if row else None

    def get(self, table_id: str, number: int) -> Round:
        row = self._store.row(
            "SELECT * FROM rounds WHERE table_id = ? AND number = ?", (table_id, number)
        )
        if row is None:
            raise Refused(f"Table {table_id} has played no round {number}.")
        return self._round(row)

    def on(self, table_id: str, number: int) -> Round:
        """The round under way, which must be this one."""
        latest = self.latest(table_id)
        if latest is None or latest.number != number or not latest.is_on:
            raise Refused(f"Round {number} is not under way at table {table_id}.")
        return latest

    def _round(self, row: tuple[Any, ...]) -> Round:
        joined = self._store.row(
            "SELECT seats FROM round_joins WHERE table_id = ? AND round_number = ?", row[:2]
        )
        groups = json.loads(joined[0]) if joined else ()
        accepted = tuple(json.loads(row[2]))
        return Round(row[0], row[1], accepted, row[3], row[4], tuple(tuple(g) for g in groups))
