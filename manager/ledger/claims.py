"""The claims of each table: what was asked, quoted or fixed, and how far each one has come.

Holds the record a claim's every step needs to be repeatable after a restart at either end. It moves
no money and judges nothing; `book` does.

A claim is OPEN, then CANCELLED or COMMITTED. OWED stands between when a logged win already left its
meter because a later win on that meter was settled first. BACKED_OUT was logged and then taken back
at the manager; it is CANCELLED once its unit has said that it knows. REFUSED is a claim that made
no sense.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

from manager.ledger.engines.relations import CLAIMS
from manager.ledger.errors import BookingRefused
from manager.ledger.store.store import Store
from protocol.wire.rows import AwardLine, EnvyLine


class ClaimState(enum.StrEnum):
    OPEN = "OPEN"
    OWED = "OWED"
    COMMITTED = "COMMITTED"
    BACKED_OUT = "BACKED_OUT"
    CANCELLED = "CANCELLED"
    REFUSED = "REFUSED"


# Claims that an operator records have numbers of their own, which no unit ever comes to.
OPERATOR_CLAIMS_FROM = 1_000_000_000

LOGGED_BY_UNIT = "unit"  # J-POT was pressed under the key: the win stands
LOGGED_BY_TERMS = "terms"  # fixed early by the meter's terms: may still be cancelled


@dataclass(frozen=True, slots=True)
class Refusal:
    """The last answer to this claim that was a refusal; repeated after a reconnect."""

    code: int
    sentence: str
    sequence: int


@dataclass(frozen=True, slots=True)
class ClaimRecord:
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
        return {line.meter_id for line in self.lines if line.meter_id}

    @property
    def total_cents(self) -> int:
        return sum(line.amount_cents for line in self.lines)


class Claims:
    def __init__(self, store: Store) -> None:
        self._store = store

    def save(self, claim: ClaimRecord) -> None:
        """Writes the claim as it now is."""
        self._store.put(CLAIMS, _values(claim))

    def find(self, table_id: str, number: int) -> ClaimRecord | None:
        row = self._store.get(CLAIMS, table_id, number)
        return _claim(row) if row else None

    def get(self, table_id: str, number: int) -> ClaimRecord:
        claim = self.find(table_id, number)
        if claim is None:
            raise BookingRefused(f"Table {table_id} has made no claim {number}.")
        return claim

    def last_number(self, table_id: str) -> int:
        """The newest claim of the table's unit."""
        return self._newest_number(table_id, OPERATOR_CLAIMS_FROM)

    def next_operator_number(self, table_id: str) -> int:
        return max(self._newest_number(table_id), OPERATOR_CLAIMS_FROM) + 1

    def newest_number(self, table_id: str) -> int:
        """The newest claim of the table, whoever made it."""
        return self._newest_number(table_id)

    def _newest_number(self, table_id: str, below: int | None = None) -> int:
        found = self._store.find(CLAIMS, {"table_id": table_id}, newest=1, below=below)
        return int(found[0][1]) if found else 0

    def of_round(self, table_id: str, round_number: int) -> list[ClaimRecord]:
        place = {"table_id": table_id, "round_number": round_number}
        return [_claim(row) for row in self._store.find(CLAIMS, place)]

    def unanswered(self, table_id: str) -> list[ClaimRecord]:
        """Claims whose Award or Committed the unit has not confirmed having."""
        return [
            claim
            for claim in self._live()
            if claim.table_id == table_id
            and (claim.state is ClaimState.COMMITTED or not claim.awarded)
        ]

    def unsettled(self) -> list[ClaimRecord]:
        """Claims of every table that were neither paid nor withdrawn."""
        return [claim for claim in self._live() if claim.state is not ClaimState.COMMITTED]

    def frozen_unapplied(self, meter_ids: Iterable[str]) -> list[ClaimRecord]:
        """Fixed claims of every table that still have to leave one of these meters, in order."""
        wanted = set(meter_ids)
        waiting = [
            claim for claim in self._live() if claim.state is ClaimState.OPEN and claim.frozen
        ]
        waiting.sort(key=lambda claim: claim.log_number)
        return [claim for claim in waiting if claim.meter_ids & wanted]

    def _live(self) -> list[ClaimRecord]:
        """Claims that are not paid, or whose payment their unit has not confirmed."""
        return [_claim(row) for row in self._store.live(CLAIMS)]


def _values(claim: ClaimRecord) -> tuple[Any, ...]:
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


def _claim(row: tuple[Any, ...]) -> ClaimRecord:
    refusal = Refusal(*row[14:17]) if row[14] else None
    return ClaimRecord(
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
