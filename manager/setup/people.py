"""What a table's file says of people and policy: cards, techs, wrong cards, an opened cabinet.

What is left out has a default that changes nothing. Card numbers and PINs never get further than
this, and no refusal repeats one: the ledger holds keys stretched from them, the settings hashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from kit.config import Choice, Complaint, Digits, Flag, Text, Unfit, Value, Whole, shown
from protocol.numbers import ROLE_EXECUTIVE, ROLE_SUPERVISOR
from protocol.secrets.cards import ACCOUNT_DIGITS_MAX
from protocol.table_file import FILE_LABEL
from protocol.wire.settings import PIN_HASH_BYTES, PIN_SALT_BYTES

WRONG_CARDS_MAX = 100
DAY_S = 86_400
ROUNDS_PER_HOUR_MAX = 1_000_000
_FIRST_DAY = date(1970, 1, 1)


class LastDay(Value):
    """A day as days since 1970, 0 for never."""

    def take(self, value: object) -> int:
        text = Text().take(value)
        if text == "never":
            return 0
        try:
            days = (date.fromisoformat(text) - _FIRST_DAY).days
        except ValueError as error:
            raise Unfit(f"must be a day such as 2027-12-31, not {shown(text)}.") from error
        if days < 1:
            raise Unfit("must be after 1970.")
        return days


@dataclass(frozen=True)
class Hexadecimal(Value):
    length_bytes: int

    def take(self, value: object) -> bytes:
        try:
            found = bytes.fromhex(value) if isinstance(value, str) else b""
        except ValueError:
            found = b""
        if len(found) != self.length_bytes:
            raise Unfit(f"must be {2 * self.length_bytes} hexadecimal digits, as tech-pin prints.")
        return found


@dataclass(frozen=True, slots=True)
class Card:
    """[[cards]]"""

    label: Annotated[str, FILE_LABEL]
    role: Annotated[int, Choice({"SUPERVISOR": ROLE_SUPERVISOR, "EXECUTIVE": ROLE_EXECUTIVE})]
    account: Annotated[str, Digits(ACCOUNT_DIGITS_MAX)]
    expires: Annotated[int, LastDay()] = 0
    enabled: Annotated[bool, Flag()] = True


@dataclass(frozen=True, slots=True)
class Tech:
    """[[techs]]"""

    label: Annotated[str, FILE_LABEL]
    pin_salt: Annotated[bytes, Hexadecimal(PIN_SALT_BYTES)]
    pin_hash: Annotated[bytes, Hexadecimal(PIN_HASH_BYTES)]


@dataclass(frozen=True, slots=True)
class Policy:
    """[policy]; `tamper` is true when an opened cabinet stops the table."""

    tamper: Annotated[bool, Choice({"show": False, "stop": True})] = False
    wrong_cards_max: Annotated[int, Whole(0, WRONG_CARDS_MAX)] = 0
    wrong_cards_within_s: Annotated[int, Whole(0, DAY_S)] = 0
    card_lockout_s: Annotated[int, Whole(0, DAY_S)] = 0
    # One every 15 s: dealing, playing and paying a table takes longer. 0 takes any number.
    rounds_per_hour_max: Annotated[int, Whole(0, ROUNDS_PER_HOUR_MAX)] = 240

    def check(self) -> Iterator[Complaint]:
        if self.wrong_cards_max and not (self.wrong_cards_within_s and self.card_lockout_s):
            yield (
                ("wrong_cards_max",),
                "must come with wrong_cards_within_s and card_lockout_s above 0.",
            )
