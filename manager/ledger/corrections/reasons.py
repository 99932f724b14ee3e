"""Why a person may correct the books, and who must have signed.

The reasons for taking an amount off a meter or out of a reserve are exactly those of WAC
230-15-695; there is none for "other". One person may add house money; two different people are
needed to take any away. What a correction moves is decided in `corrections`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeVar

from kit.spelling import is_one_person
from manager.ledger.errors import LedgerError, NeedsTwo

R = TypeVar("R", bound=enum.StrEnum)

NAME_MAX = 60
NOTE_MAX = 200


class Reduction(enum.StrEnum):
    AMOUNT_WON = "amount-won"  # a win that was paid and is not in the books
    MALFUNCTION = "malfunction"  # what a fault added
    OVER_LIMIT = "over-limit"  # shown above the limit: out of sight, into the reserve
    GROSS_RECEIPTS = "gross-receipts"  # funds that are not shown, booked as the house's receipts
    SEED_RECOVERY = "seed-recovery"  # the house takes back what it put in


class Increase(enum.StrEnum):
    TOP_UP = "top-up"  # house money, such as after a fall below the seed
    MALFUNCTION = "malfunction"  # what a fault withheld from the players


class ReversalReason(enum.StrEnum):
    WRONG_HAND = "wrong-hand"
    WRONG_SEAT = "wrong-seat"
    NOT_WON = "not-won"
    MALFUNCTION = "malfunction"


class LateWinReason(enum.StrEnum):
    NOT_ENTERED = "not-entered"  # the game was ended without it
    MISREAD = "misread"  # the hand was seen only afterwards
    MALFUNCTION = "malfunction"  # the table could not take it


class StopReason(enum.StrEnum):
    TAX_SEIZURE = "tax-seizure"  # WAC 230-15-715
    BANK_BALANCE = "bank-balance"  # WAC 230-15-455
    MALFUNCTION = "malfunction"
    HOUSE_DECISION = "house-decision"


@dataclass(frozen=True, slots=True)
class Signed:
    """The people who stand for a correction, and what they wrote to it."""

    operator: str
    second: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if not self.operator.strip():
            raise LedgerError("A correction needs the name of the operator who makes it.")
        if max(len(self.operator), len(self.second)) > NAME_MAX or len(self.note) > NOTE_MAX:
            raise LedgerError("A name or note of a correction is too long.")

    def require_two(self, what: str) -> None:
        if not self.second.strip():
            raise NeedsTwo(f"{what} needs a second person.")
        if is_one_person(self.operator, self.second):
            raise LedgerError(f"{what} needs two different people, not {self.operator} twice.")

    @property
    def names(self) -> str:
        operator, second = self.operator.strip(), self.second.strip()
        return f"{operator} and {second}" if second else operator

    def detail(self, reason: str) -> dict[str, str]:
        """What the chain keeps of it."""
        return {
            "reason": reason,
            "operator": self.operator.strip(),
            "second": self.second.strip(),
            "note": self.note,
        }


def reason_of(text: str, reasons: type[R], what: str) -> R:
    """The reason with this code; any other is refused with the permitted ones."""
    try:
        return reasons(text)
    except ValueError as error:
        permitted = ", ".join(reasons)
        raise LedgerError(f"{what} is allowed for {permitted}; not for {text!r}.") from error
