"""Whose authority counts at a table, as the house set it up: known here, and never sent to a unit.

A card is kept as the key that is stretched from its number, so that a proof can be checked and the
number not be read. What a claim needs follows from the settings (`rules`).
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Self

from protocol.numbers import ROLE_SUPERVISOR


@dataclass(frozen=True, slots=True)
class CardKey:
    label: str
    role: int
    key: bytes
    last_day: int = 0  # counted from 1970; 0 = ever
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class TableAuthority:
    key_role: int = ROLE_SUPERVISOR  # what the key of a keypad table stands for
    confirm_from_cents: int = 0  # from here on two people at the manager confirm, 0 = never
    rounds_per_hour_max: int = 0  # 0 = any
    cards: tuple[CardKey, ...] = ()
    cards_mark: str = ""  # by which the file's cards are recognised
    people_kept_here: bool = False  # cards and techs were changed at the manager: the file's rest

    def find(self, proof: bytes, proof_by: Callable[[bytes], bytes]) -> CardKey | None:
        """The card that made this proof; `proof_by` makes the one that a key would make."""
        for card in self.cards:
            if hmac.compare_digest(proof_by(card.key), proof):
                return card
        return None

    def encode(self) -> str:
        values = asdict(self)
        values["cards"] = [{**asdict(card), "key": card.key.hex()} for card in self.cards]
        return json.dumps(values, sort_keys=True)

    @classmethod
    def decode(cls, text: str) -> Self:
        values = json.loads(text)
        cards = values.pop("cards")
        keys = (CardKey(**{**card, "key": bytes.fromhex(card["key"])}) for card in cards)
        return cls(**values, cards=tuple(keys))


NOBODY = TableAuthority()
