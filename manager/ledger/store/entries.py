"""What one ledger transaction is made of, before it is written.

Knows the reason codes and refuses an entry that does not balance, has no sentence or carries
anything but integers. It does not know accounts' balances or the database.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from manager.ledger.errors import LedgerError
from manager.money import whole

MICROCENTS_MAX = 10**18  # one posting; leaves room to add up in 64 bits


class Kind(enum.StrEnum):
    """The reason code of a transaction. There is none for "other"."""

    OPENING = "OPENING"  # a meter's beginning amount
    OPENING_RESTATED = "OPENING_RESTATED"  # the beginning amount put right before the first wager
    WAGER = "WAGER"  # the accepted wagers of one game in a round, split
    CLAIM_LOGGED = "CLAIM_LOGGED"  # an amount fixed before it moves; no postings
    AWARD = "AWARD"  # one winning spot paid
    RESEED = "RESEED"  # seed and reserve after a 100 % award
    ENVY = "ENVY"  # one envy payment
    HANDED_OVER = "HANDED_OVER"  # an owed win paid at its table
    GIVEN_BACK = "GIVEN_BACK"  # what was set aside for a claim that was cancelled after all
    REVERSAL = "REVERSAL"  # a win taken back, with everything it moved
    VOIDED = "VOIDED"  # one wager of a void round given back
    ADJUSTMENT = "ADJUSTMENT"  # an amount put right by hand, for a permitted reason
    TERMS_CHANGED = "TERMS_CHANGED"  # other terms from the next reseed on
    LIMIT_SET = "LIMIT_SET"  # another highest amount to be shown
    SUSPENDED = "SUSPENDED"  # a jackpot stopped
    RESUMED = "RESUMED"
    CLOSED = "CLOSED"  # a jackpot ended for good, its money moved on
    BACKED_OUT = "BACKED_OUT"  # a logged claim taken back before it was booked; no postings
    CLAIM_APPROVED = "CLAIM_APPROVED"  # two people at the manager let a claim be paid; no postings
    LATE_ENTRY = "LATE_ENTRY"  # an earlier round taken up for a forgotten win; no postings
    UNIT_RELEASED = "UNIT_RELEASED"  # a locked unit may speak again; no postings
    DAY_CLOSED = "DAY_CLOSED"  # a gaming day is over, with the books as they stood; no postings
    ACT = "ACT"  # what a person did at the manager: signed in, asked, decided; no postings
    EVENT = "EVENT"  # a unit's event that moved no money
    NOTE = "NOTE"  # what the manager or a person did that moved no money


MOVING_NONE = frozenset({Kind.EVENT, Kind.NOTE})


# The others may move nothing and are still recorded: a tenth of an empty meter is no money.
_MUST_MOVE_MONEY = frozenset(
    {Kind.WAGER, Kind.VOIDED, Kind.ENVY, Kind.OPENING_RESTATED, Kind.ADJUSTMENT}
)


class Reference(NamedTuple):
    """Where the money came from or went: table, round, sensor, claim (empty or 0 = none).

    Wagers of several sensors name them all, with a space between.
    """

    table_id: str = ""
    round_number: int = 0
    sensor: str = ""
    claim_number: int = 0


class EventSource(NamedTuple):
    """The unit's event that caused a transaction, with the unit's own clocks."""

    unit_id: str = ""
    sequence: int = 0
    monotonic_ms: int = 0
    wall_ms: int = 0
    digest: bytes = b""


BY_THE_MANAGER = EventSource()


class Posting(NamedTuple):
    account: str
    amount_microcents: int


class Entry(NamedTuple):
    """One transaction to be appended."""

    kind: Kind
    reference: Reference
    sentence: str
    postings: tuple[Posting, ...]
    origin: EventSource = BY_THE_MANAGER
    detail: Mapping[str, Any] = MappingProxyType({})

    def check(self) -> None:
        """Refuses what may never be written, whoever asks."""
        if not self.sentence:
            raise LedgerError(f"A {self.kind} entry needs a sentence that explains it.")
        check_texts((self.sentence,))
        total = 0
        for account, amount in self.postings:
            if type(amount) is not int or not account or not 0 < abs(amount) <= MICROCENTS_MAX:
                raise _cannot_be_posted(account, amount)
            total += amount
        if len({account for account, _ in self.postings}) != len(self.postings):
            raise LedgerError(f"The {self.kind} entry names an account twice.")
        if total != 0:
            raise LedgerError(f"The {self.kind} entry is out of balance by {total} micro-cents.")
        if not self.postings and self.kind in _MUST_MOVE_MONEY:
            raise LedgerError(f"A {self.kind} entry must move money.")

    def detail_text(self) -> str:
        """The detail as the one JSON text that is stored and hashed."""
        if not self.detail:
            return "{}"
        return json.dumps(self.detail, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def check_texts(values: Iterable[object]) -> None:
    """PostgreSQL keeps no text with a NUL: found at its commit, it would halt the manager."""
    for value in values:
        if type(value) is str and "\0" in value:
            raise LedgerError("A text has a NUL character in it, which no ledger keeps.")


def _cannot_be_posted(account: str, amount: object) -> LedgerError:
    whole(amount, f"The amount on {account}")
    if not account:
        return LedgerError("A posting needs an account.")
    return LedgerError(f"{amount} micro-cents cannot be posted to {account}.")


def postings(*amounts: tuple[str, int]) -> tuple[Posting, ...]:
    """Postings from (account, micro-cents) pairs; parts that are zero leave no line."""
    return tuple(Posting(account, amount) for account, amount in amounts if amount != 0)
