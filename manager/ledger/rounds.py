"""The rounds of each table: which bets were accepted, and whether the round is still on.

A round's accepted set is written once and never changes. What a bet is worth is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from manager.ledger.engines.relations import ROUNDS, Row
from manager.ledger.errors import BookingRefused
from manager.ledger.store.memory import Place
from manager.ledger.store.store import Store


class Round(NamedTuple):
    table_id: str
    number: int
    accepted: tuple[str, ...]
    joined: tuple[tuple[int, ...], ...]  # seats that one player holds together
    started_ms: int
    ended_ms: int  # 0 while the round is on

    @property
    def is_on(self) -> bool:
        return self.ended_ms == 0


class Rounds:
    def __init__(self, store: Store) -> None:
        self._store = store
        # Of each table, with the row that it was made from: a step asks for it several times.
        self._latest: dict[str, tuple[Row, Round]] = {}
        self._places: dict[str, Place] = {}

    def start(
        self,
        table_id: str,
        number: int,
        accepted: Sequence[str],
        joined: Sequence[Sequence[int]] = (),
    ) -> None:
        taken = " ".join(accepted)
        together = " ".join("+".join(map(str, seats)) for seats in joined)
        self._store.put(ROUNDS, (table_id, number, taken, together, self._store.now_ms, 0))

    def end(self, table_id: str, number: int, ended_ms: int = 0) -> None:
        """Now, or as of an earlier moment."""
        row = self._store.get(ROUNDS, table_id, number)
        assert row is not None, f"rounds has no {number} of {table_id}"
        self._store.put(ROUNDS, (*row[:-1], ended_ms or self._store.now_ms))

    def reopen(self, table_id: str, number: int) -> None:
        self._store.update(ROUNDS, (table_id, number), ended_ms=0)

    def latest(self, table_id: str) -> Round | None:
        place = self._places.get(table_id)
        if place is None:
            place = self._places[table_id] = (("table_id",), (table_id,))
        row = self._store.newest_at(ROUNDS, place)
        if row is None:
            return None
        kept = self._latest.get(table_id)
        if kept is None or kept[0] is not row:
            kept = self._latest[table_id] = row, _round(row)
        return kept[1]

    def newest(self, table_id: str, count_max: int) -> list[Round]:
        """The newest first."""
        rows = self._store.find(ROUNDS, {"table_id": table_id}, newest=count_max)
        return [_round(row) for row in rows]

    def get(self, table_id: str, number: int) -> Round:
        row = self._store.get(ROUNDS, table_id, number)
        if row is None:
            raise BookingRefused(f"Table {table_id} has played no round {number}.")
        return _round(row)

    def on(self, table_id: str, number: int) -> Round:
        """The round under way, which must be this one."""
        return _under_way(self.latest(table_id), table_id, number)

    def entered(self, table_id: str, number: int) -> Round:
        """The round whose wins are entered now: under way, or an earlier one taken up again."""
        latest = self.latest(table_id)
        if latest is not None and number < latest.number:
            earlier = self.get(table_id, number)
            if earlier.is_on:
                return earlier
        return _under_way(latest, table_id, number)

    def taken_up(self, table_id: str) -> list[Round]:
        """Earlier rounds that wins are entered in; a table has one at most."""
        rows = self._store.find(ROUNDS, {"table_id": table_id, "ended_ms": 0})
        latest = self.latest(table_id)
        return [_round(row) for row in rows if latest is not None and row[1] < latest.number]


def _under_way(latest: Round | None, table_id: str, number: int) -> Round:
    if latest is None or latest.number != number or latest.ended_ms:
        raise BookingRefused(f"Round {number} is not under way at table {table_id}.")
    return latest


def _round(row: Row) -> Round:
    table_id, number, accepted, joined, started_ms, ended_ms = row
    return Round(table_id, number, *_seated(accepted, joined), started_ms, ended_ms)


@lru_cache(maxsize=4096)  # the same bets come again and again
def _seated(accepted: str, joined: str) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    together = tuple(tuple(map(int, seats.split("+"))) for seats in joined.split())
    return tuple(accepted.split()), together
