"""What one ledger transaction is made of, before it is written.

Knows the reason codes and refuses an entry that does not balance, has no sentence or carries
anything but integers. It does not know accounts' balances or the database.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manager.ledger.errors import LedgerError
from manager.money import whole

MICROCENTS_MAX = 10**18  # one posting; leaves room to add up in 64 bits


class Kind(enum.StrEnum):
    """The reason code of a transaction. There is none for "other"."""

    OPENING = "OPENING"  # a meter's beginning amount
    OPENING_RESTATED = "OPENING_RESTATED"  # the beginning amount put right before the first wager
    WAGER = "WAGER"  # one accepted wager, split
    CLAIM_LOGGED = "CLAIM_LOGGED"  # an amount fixed before it moves; no postings
    AWARD = "AWARD"  # one winning spot paid
    RESEED = "RESEED"  # seed and reserve after a 100 % award
    ENVY = "ENVY"  # one envy payment
    HANDED_OVER = "HANDED_OVER"  # an owed win paid at its table
    GIVEN_BACK = "GIVEN_BACK"  # what was set aside for a claim that was cancelled after all
    REVERSAL = "REVERSAL"  # a win taken back, with everything it moved
    ADJUSTMENT = "ADJUSTMENT"  # an amount put right by hand, for a permitted reason
    TERMS_CHANGED = "TERMS_CHANGED"  # other terms from the next reseed on
    LIMIT_SET = "LIMIT_SET"  # another highest amount to be shown
    SUSPENDED = "SUSPENDED"  # a jackpot stopped
    RESUMED = "RESUMED"
    CLOSED = "CLOSED"  # a jackpot ended for good, its money moved on


# The others may move nothing and are still recorded: a tenth of an empty meter is no money.
_MUST_MOVE_MONEY = frozenset({Kind.WAGER, Kind.ENVY, Kind.OPENING_RESTATED, Kind.ADJUSTMENT})


@dataclass(frozen=True, slots=True)
class Reference:
    """Where the money came from or went: table, round, sensor, claim (empty or 0 = none)."""

    table_id: str = ""
    round_number: int = 0
    sensor: str = ""
    claim_number: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """The unit's event that caused a transaction, with the unit's own clocks."""

    unit_id: str = ""
    sequence: int = 0
    monotonic_ms: int = 0
    wall_ms: int = 0
    digest: bytes = b""


BY_THE_MANAGER = Origin()


@dataclass(frozen=True, slots=True)
class Posting:
    account: str
    amount_microcents: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One transaction to be appended."""

    kind: Kind
    reference: Reference
    sentence: str
    postings: tuple[Posting, ...]
    origin: Origin = BY_THE_MANAGER
    detail: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuses what may never be written, whoever asks."""
        if not self.sentence:
            raise LedgerError(f"A {self.kind} entry needs a sentence that explains it.")
        for posting in self.postings:
            _check_posting(posting)
        accounts = [posting.account for posting in self.postings]
        if len(set(accounts)) != len(accounts):
            raise LedgerError(f"The {self.kind} entry names an account twice.")
        total = sum(posting.amount_microcents for posting in self.postings)
        if total != 0:
            raise LedgerError(f"The {self.kind} entry is out of balance by {total} micro-cents.")
        if not self.postings and self.kind in _MUST_MOVE_MONEY:
            raise LedgerError(f"A {self.kind} entry must move money.")

    def detail_text(self) -> str:
        """The detail as the one JSON text that is stored and hashed."""
        return json.dumps(self.detail, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _check_posting(posting: Posting) -> None:
    amount = whole(posting.amount_microcents, f"The amount on {posting.account}")
    if not posting.account:
        raise LedgerError("A posting needs an account.")
    if amount == 0 or abs(amount) > MICROCENTS_MAX:
        raise LedgerError(f"{amount} micro-cents cannot be posted to {posting.account}.")


def postings(*amounts: tuple[str, int]) -> tuple[Posting, ...]:
    """Postings from (account, micro-cents) pairs; parts that are zero leave no line."""
    return tuple(Posting(account, amount) for account, amount in amounts if amount != 0)
