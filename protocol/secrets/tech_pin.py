"""How a tech's PIN is known without being stored: a salted scrypt hash.

Made where the manager's operator types it, checked on the unit. Who is asked and how often is
decided there.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Final

from protocol.wire.settings import PIN_HASH_BYTES, PIN_SALT_BYTES

PIN_LENGTH_MIN: Final = 6
PIN_LENGTH_MAX: Final = 64
# About 50 ms and 16 MiB a try: dear for someone who tries them all, cheap for one who knows.
_WORK: Final = 2**14
_BLOCK: Final = 8
_MEMORY_MAX_BYTES: Final = 64 * 1024 * 1024


class PinError(Exception):
    """This cannot be a PIN; the sentence says why."""


def hash_pin(pin: str, random_bytes: Callable[[int], bytes]) -> tuple[bytes, bytes]:
    """A new salt and the hash under it."""
    if not PIN_LENGTH_MIN <= len(pin) <= PIN_LENGTH_MAX or not pin.isprintable():
        raise PinError(f"A PIN has {PIN_LENGTH_MIN} to {PIN_LENGTH_MAX} characters.")
    salt = random_bytes(PIN_SALT_BYTES)
    return salt, _hashed(pin, salt)


def is_pin(pin: str, salt: bytes, hashed: bytes) -> bool:
    return hmac.compare_digest(_hashed(pin[:PIN_LENGTH_MAX], salt), hashed)


def _hashed(pin: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        pin.encode(),
        salt=salt,
        n=_WORK,
        r=_BLOCK,
        p=1,
        maxmem=_MEMORY_MAX_BYTES,
        dklen=PIN_HASH_BYTES,
    )
