"""How a swiped card proves itself without its number being stored at either end.

A key is stretched from the number; the manager keeps the keys, a unit keeps nothing. A unit that
has just read a card makes a proof for the one thing at hand: this claim with these amounts, this
round to be void or opened again, this cabinet. Reading a card and judging a proof happen elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Final

from protocol.wire import profile
from protocol.wire.errors import ErrorCode, ProtocolError

SALT_BYTES: Final = 16
KEY_BYTES: Final = 32
PROOF_BYTES: Final = 32
TICKET_BYTES: Final = 16
# As track 2 of a card has it (ISO/IEC 7813); a reader delivers nothing else.
ACCOUNT_DIGITS_MAX: Final = 19

# 16 MiB and some tens of milliseconds a try: a number cannot be found from a proof by trying all.
_SCRYPT: Final[dict[str, int]] = {"n": 1 << 14, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024}
_CONTEXT: Final = "underfelt swipe 1"


def card_key(salt: bytes, account: str) -> bytes:
    """The key that only this card's number makes at this table. Slow on purpose."""
    if len(salt) != SALT_BYTES:
        raise ProtocolError(ErrorCode.BAD_FIELD, f"A card salt must be {SALT_BYTES} bytes.")
    if not account or not account.isascii():
        raise ProtocolError(ErrorCode.CARD_REFUSED, "The card's account number is not plain ASCII.")
    return hashlib.scrypt(account.encode("ascii"), salt=salt, dklen=KEY_BYTES, **_SCRYPT)


def swipe_proof(key: bytes, unit_id: str, purpose: int, number: int, content: Any) -> bytes:
    """HMAC-SHA-256 over what the card was swiped for; `content` is what the table shows."""
    swiped_for = [_CONTEXT, unit_id, purpose, number, content]
    return hmac.digest(key, profile.encode(swiped_for), "sha256")
