"""What a table's file says of people and policy: cards, techs, wrong cards, an opened cabinet.

Read key by key like the rest of the file; what is left out has a default that changes nothing. Card
numbers and PINs never get further than this: the settings hold digests and hashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from manager.section import Section, SetupError
from protocol.rows import ROLE_EXECUTIVE, ROLE_SUPERVISOR
from protocol.settings import PIN_HASH_BYTES, PIN_SALT_BYTES

WRONG_CARDS_MAX = 100
DAY_S = 86_400
_ROLES = {"SUPERVISOR": ROLE_SUPERVISOR, "EXECUTIVE": ROLE_EXECUTIVE}
_TAMPER = {"show": False, "stop": True}
_FIRST_DAY = date(1970, 1, 1)
_NO_POLICY = {
    "tamper": "show",
    "wrong_cards_max": 0,
    "wrong_cards_within_s": 0,
    "card_lockout_s": 0,
}


@dataclass(frozen=True, slots=True)
class Card:
    label: str
    role: int
    account: str
    last_day: int = 0  # days since 1970, 0 for ever
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Tech:
    label: str
    pin_salt: bytes
    pin_hash: bytes


@dataclass(frozen=True, slots=True)
class Policy:
    tamper_stops: bool
    wrong_cards_max: int
    wrong_cards_within_s: int
    card_lockout_s: int


def read_card(part: Section) -> Card:
    extra = _with_defaults(part, {"expires": "never", "enabled": True})
    card = Card(
        part.text("label"),
        part.choice("role", _ROLES),
        part.text("account"),
        _last_day(extra),
        extra.flag("enabled"),
    )
    part.done()
    return card


def read_tech(part: Section) -> Tech:
    label = part.text("label")
    salt = _hexadecimal(part, "pin_salt", PIN_SALT_BYTES)
    hashed = _hexadecimal(part, "pin_hash", PIN_HASH_BYTES)
    part.done()
    return Tech(label, salt, hashed)


def read_policy(top: Section) -> Policy:
    found = top.leave_to_others("policy").get("policy", {})
    if not isinstance(found, dict):
        raise SetupError("policy must be a table.")
    part = Section(_NO_POLICY | found, "policy")
    policy = Policy(
        part.choice("tamper", _TAMPER),
        part.whole("wrong_cards_max", 0, WRONG_CARDS_MAX),
        part.whole("wrong_cards_within_s", 0, DAY_S),
        part.whole("card_lockout_s", 0, DAY_S),
    )
    part.done()
    if policy.wrong_cards_max and not (policy.wrong_cards_within_s and policy.card_lockout_s):
        raise SetupError(
            "policy.wrong_cards_max must come with wrong_cards_within_s and card_lockout_s above 0."
        )
    return policy


def _with_defaults(part: Section, defaults: dict[str, Any]) -> Section:
    return Section(defaults | part.leave_to_others(*defaults), part.path)


def _last_day(part: Section) -> int:
    text = part.text("expires")
    if text == "never":
        return 0
    try:
        days = (date.fromisoformat(text) - _FIRST_DAY).days
    except ValueError as error:
        raise part.refusal("expires", f"must be a day such as 2027-12-31, not {text!r}") from error
    if days < 1:
        raise part.refusal("expires", "must be after 1970")
    return days


def _hexadecimal(part: Section, key: str, length_bytes: int) -> bytes:
    text = part.text(key)
    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(value) != length_bytes:
        raise part.refusal(
            key, f"must be {2 * length_bytes} hexadecimal digits, as tech-pin prints"
        )
    return value
