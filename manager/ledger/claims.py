"""The claims of each table: what was asked, quoted or fixed, and how far each one has come.

Holds the record a claim's every step needs to be repeatable after a restart at either end. It moves
no money and judges nothing; `book` does.

A claim is OPEN, then CANCELLED or COMMITTED. OWED stands between when a logged win already left its
meter because a later win on that meter was settled first. REFUSED is a claim that made no sense.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from typing import Any

from manager.ledger.errors import Refused
from manager.ledger.store import Store
from protocol.rows import AwardLine, EnvyLine


class ClaimState(enum.StrEnum):
    OPEN = "OPEN"
    OWED = "OWED"
    COMMITTED = "COMMITTED"
    CANCELLED = "CANCELLED"
    REFUSED = "REFUSED"


# Claims that an operator records have numbers of their own, which no unit ever comes to.
OPERATOR_CLAIMS_FROM = 1_000_000_000

LOGGED_BY_UNIT = "unit"  # J-POT was pressed under the key: the win stands
LOGGED_BY_LOCK = "claim_lock"  # fixed early by the meter's terms: may still be cancelled


@dataclass(frozen=True, slots=True)
class Refusal:
    """The last answer to this claim that was a refusal; repeated after a reconnect."""

    code: int
    sentence: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Claim:
    table_id: str
    number: int
    round_number: int
    state: ClaimState
    frozen: bool = False
    logged_by: str = ""
    log_number: int = 0  # the CLAIM_LOGGED transaction: the order in which frozen claims apply
    role: int = 0
    lines: tuple[AwardLine, ...] = ()
    envy: tuple[EnvyLine, ...] = ()
    shown: tuple[tuple[int, int], ...] = ()  # each line's meter before and after, in cents
    awarded: bool = False  # the unit's receipt of the Award was seen
    settled: bool = False  # the unit's receipt of the Committed was seen
    win_number: int = 0
    refusal: Refusal | None = None

    @property
    def meter_ids(self) -> set[str]:
        return {line.level for line in self.lines if line.level}

    @property
    def total_cents(self) -> int:
        return sum(line.amount_cents for line in self.lines)


class Claims:
    def __init__(self, store: Store) -> None:
        self._store = store

    def save(self, claim: Claim) -> None:
        """Writes the claim as it now is."""
        values = _values(claim)
        marks = ",".join("?" * len(values))
        self._store.execute(f"INSERT OR REPLACE INTO claims VALUES ({marks})", values)

    def find(self, table_id: str, number: int) -> Claim | None:
        found = self._select("table_id = ? AND number = ?", table_id, number)
        return found[0] if found else None

    def get(self, table_id: str, number: int) -> Claim:
        claim = self.find(table_id, number)
        if claim is None:
            raise Refused(f"Table {table_id} has made no claim {number}.")
        return claim

    def last_number(self, table_id: str) -> int:
        """The newest claim of the table's unit."""
        row = self._store.row(
            "SELECT coalesce(max(number), 0) FROM claims WHERE table_id = ? AND number < ?",
            (table_id, OPERATOR_CLAIMS_FROM),
        )
        return int(row[0]) if row else 0

    def next_operator_number(self, table_id: str) -> int:
        row = self._store.row("SELECT max(number) FROM claims WHERE table_id = ?", (table_id,))
        newest = int(row[0]) if row and row[0] else 0
        return max(newest, OPERATOR_CLAIMS_FROM) + 1

    def of_round(self, table_id: str, round_number: int) -> list[Claim]:
        return self._select("table_id = ? AND round_number = ?", table_id, round_number)

    def unanswered(self, table_id: str) -> list[Claim]:
        """Claims whose Award or Committed the unit has not confirmed having."""
        return self._select(
            "table_id = ? AND ((state IN ('OPEN', 'OWED') AND NOT awarded)"
            " OR (state = 'COMMITTED' AND NOT settled))",
            table_id,
        )

    def unsettled(self) -> list[Claim]:
        """Claims of every table that were neither paid nor withdrawn."""
        return self._select("state IN ('OPEN', 'OWED')")

    def frozen_unapplied(self, meter_ids: Iterable[str]) -> list[Claim]:
        """Fixed claims of every table that still have to leave one of these meters, in order."""
        wanted = set(meter_ids)
        waiting = self._select("state = 'OPEN' AND frozen ORDER BY log_number")
        return [claim for claim in waiting if claim.meter_ids & wanted]

    def note_refusal(self, claim: Claim, code: int, sentence: str, sequence: int) -> None:
        self.save(replace(claim, refusal=Refusal(code, sentence, sequence)))

    def _select(self, where: str, *values: object) -> list[Claim]:
        order = "" if "ORDER BY" in where else " ORDER BY number"
        return [
            _claim(row)
            for row in self._store.rows(f"SELECT * FROM claims WHERE {where}{order}", values)
        ]


def _values(claim: Claim) -> tuple[Any, ...]:
    refusal = claim.refusal or Refusal(0, "", 0)
    return (
        claim.table_id,
        claim.number,
        claim.round_number,
        str(claim.state),
        int(claim.frozen),
        claim.logged_by,
        claim.log_number,
        claim.role,
        json.dumps(claim.lines),
        json.dumps(claim.envy),
        json.dumps(claim.shown),
        int(claim.awarded),
        int(claim.settled),
        claim.win_number,
        *astuple(refusal),
    )


def _claim(row: tuple[Any, ...]) -> Claim:
    refusal = Refusal(*row[14:17]) if row[14] else None
    return Claim(
        table_id=row[0],
        number=row[1],
        round_number=row[2],
        state=ClaimState(row[3]),
        frozen=bool(row[4]),
        logged_by=row[5],
        log_number=row[6],
        role=row[7],
        lines=tuple(AwardLine(*line) for line in json.loads(row[8])),
        envy=tuple(EnvyLine(*line) for line in json.loads(row[9])),
        shown=tuple((before, after) for before, after in json.loads(row[10])),
        awarded=bool(row[11]),
        settled=bool(row[12]),
        win_number=row[13],
        refusal=refusal,
    )
