"""How an authorising card is known without its number being stored.

The salt belongs to the table's settings; reading a card and judging its role happen elsewhere.
"""

from __future__ import annotations

import hashlib
from typing import Final

from protocol.errors import ErrorCode, ProtocolError

CARD_DIGEST_BYTES: Final = 16
SALT_BYTES: Final = 16


def card_digest(salt: bytes, account: str) -> bytes:
    """The first 16 bytes of SHA-256 over the salt and the account number as ASCII."""
    if len(salt) != SALT_BYTES:
        raise ProtocolError(ErrorCode.BAD_FIELD, f"A card salt must be {SALT_BYTES} bytes.")
    if not account or not account.isascii():
        raise ProtocolError(ErrorCode.CARD_REFUSED, "The card's account number is not plain ASCII.")
    return hashlib.sha256(salt + account.encode("ascii")).digest()[:CARD_DIGEST_BYTES]
