"""What a manager that stands by hands over to the owner, and the owner's answer, as they are sent.

A sign-in, a wrong password and a move are entries of the ledger, which the owner alone writes. So
the owner judges them, and whoever stands by goes by its answer. Nothing here is ever stored.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from manager.people.errors import NotKnown

PATH = "/from-standby"
PROOF = "x-underfelt-proof"  # the header with the mark that only a manager can make

SIGN_IN, SIGN_OUT, MOVE = "sign-in", "sign-out", "move"
UNREADABLE = "What was handed over cannot be read."


@dataclass(frozen=True, slots=True)
class HandedOver:
    what: str
    manager: str  # the name of who hands it over
    name: str  # as somebody typed it, or as they are signed in
    address: str  # where they sit
    password: str = field(default="", repr=False)
    group: str = ""
    to: str = ""

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, body: bytes) -> HandedOver:
        """Refuses what a manager of this release would not have sent."""
        found = _map_in(body)
        if set(found) != {each.name for each in fields(cls)}:
            raise NotKnown(UNREADABLE)
        if not all(isinstance(value, str) for value in found.values()):
            raise NotKnown(UNREADABLE)
        return cls(**found)


@dataclass(frozen=True, slots=True)
class Answer:
    done: bool
    sentence: str  # the person's own name after a sign-in
    wait_s: int = 0  # for so long nothing is listened to

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, body: bytes) -> Answer:
        found = _map_in(body)
        kinds = {"done": bool, "sentence": str, "wait_s": int}
        if {name: type(value) for name, value in found.items()} != kinds:
            raise NotKnown(UNREADABLE)
        return cls(**found)


def _map_in(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotKnown(UNREADABLE) from error
    if not isinstance(found, dict):
        raise NotKnown(UNREADABLE)
    return found
