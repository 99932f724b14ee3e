"""What is kept of a password: argon2id over it and a key that lies beside the ledger.

The ledger is copied, exported and kept for ever; without the key, nobody can try passwords on what
it holds. A hash takes a tenth of a second of purpose, so it is worked out beside the event loop.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from kit.files import write_private
from kit.spelling import look_of
from manager.people.errors import NotKnown

KEY_NAME = "people.key"
KEY_BYTES = 32
LENGTH_MIN, LENGTH_MAX = 12, 200
CODE_LETTERS = 12
# Nothing that looks like something else on paper: no I, L, O, U, 0, 1.
ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789"

# RFC 9106, the second choice: 64 MiB, three passes. One lane: a manager has other things to do.
HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1)


class Passwords:
    def __init__(
        self,
        key: bytes,
        hasher: PasswordHasher = HASHER,
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._key = key
        self._hasher = hasher
        self._random_bytes = random_bytes

    def verifier(self, password: str) -> str:
        return self._hasher.hash(self._keyed(password))

    def fits(self, password: str, verifier: str) -> bool:
        typed = self._keyed(password[: LENGTH_MAX + 1])
        if not verifier:
            self._hasher.hash(typed)  # who is not known takes as long to refuse as who is
            return False
        try:
            return self._hasher.verify(verifier, typed)
        except (VerificationError, InvalidHashError):
            return False

    def new_code(self) -> str:
        """A one-time code in the form in which it is read out: K3QX-9M2T-WH4P."""
        drawn = self._random_bytes(2 * CODE_LETTERS)
        numbers = [int.from_bytes(drawn[at : at + 2], "big") for at in range(0, len(drawn), 2)]
        letters = "".join(ALPHABET[number % len(ALPHABET)] for number in numbers)
        return "-".join(letters[at : at + 4] for at in range(0, CODE_LETTERS, 4))

    def code_mark(self, code: str) -> str:
        """What is kept of a code: it has 58 random bits, so a keyed hash is enough."""
        letters = "".join(each for each in code.upper() if each in ALPHABET)
        return hmac.new(self._key, b"code:" + letters.encode(), hashlib.sha256).hexdigest()

    def manager_mark(self, message: bytes) -> str:
        """Shows another manager, which has the same key, that a manager of this house wrote it."""
        return hmac.new(self._key, b"manager:" + message, hashlib.sha256).hexdigest()

    def _keyed(self, password: str) -> bytes:
        mixed = hmac.new(self._key, b"password:" + password.encode(), hashlib.sha256).digest()
        return base64.b64encode(mixed)


def check_password(password: str, name: str) -> None:
    """Refuses what is guessed first; long is better than odd."""
    if len(password) < LENGTH_MIN:
        raise NotKnown(f"A password has at least {LENGTH_MIN} letters. A few words will do.")
    if len(password) > LENGTH_MAX:
        raise NotKnown(f"A password has at most {LENGTH_MAX} letters.")
    if len(set(password)) < 5 or look_of(name) in look_of(password):
        raise NotKnown("That password is too easy to guess. A few words in a row are better.")


def load_key(data: Path) -> bytes:
    """The floor's key, made once; without it every password has to be chosen anew."""
    path = data / KEY_NAME
    if not path.exists():
        write_private(path, secrets.token_bytes(KEY_BYTES))
    return shared_key(data)


def shared_key(data: Path) -> bytes:
    """The key that all managers of a house have; one that has no copy does not make another."""
    path = data / KEY_NAME
    if not path.exists():
        raise NotKnown(f"{path} is missing; copy it from a manager that has served.")
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise NotKnown(f"{path} is damaged; put it back from a backup.")
    return key
