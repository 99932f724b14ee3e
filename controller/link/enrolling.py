"""What a unit shows while it asks to be enrolled: its six digits, or why it could not ask.

Told by the command that asks, shown by the page of a unit that nobody has enrolled yet. They are
two processes with one data folder, so it is a small file between them.
"""

from __future__ import annotations

import json

from controller.link.identity import UnitIdentity
from kit.files import write_private

DIGIT_COUNT = 6


def tell_digits(identity: UnitIdentity, digits: str) -> None:
    write_private(identity.asking, json.dumps({"digits": digits}).encode())


def tell_refusal(identity: UnitIdentity, reason: str) -> None:
    write_private(identity.asking, json.dumps({"refusal": reason}).encode())


def tell_nothing(identity: UnitIdentity) -> None:
    identity.asking.unlink(missing_ok=True)


def asking_sentence(identity: UnitIdentity) -> str:
    """For the people at the table; "" when nobody has asked, or what was told cannot be read."""
    try:
        told = json.loads(identity.asking.read_bytes())
        digits, refusal = str(told.get("digits", "")), str(told.get("refusal", ""))
    except (OSError, ValueError, AttributeError):
        return ""
    if len(digits) == DIGIT_COUNT:
        return (
            f"This unit waits to be enrolled. Its number is {digits[:3]} {digits[3:]}; the "
            "operator must see the same number."
        )
    return f"This unit could not be enrolled: {refusal}." if refusal else ""
