"""One-time codes: an operator makes one and reads it out; it works once, soon, for one table.

Kept only as a salted scrypt hash. A code names its row, so that checking one costs one hash however
many are open. Whoever tries a wrong one waits for the answer, longer with each try of anybody; a
code stays good meanwhile for who knows it, because closing it would let strangers keep units out.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass

from manager.identity.errors import IdentityError, WrongCode
from manager.identity.store import IdentityStore

VALID_MS = 15 * 60 * 1000
DELAY_MAX_S = 8
OPEN_MAX = 32
SECRET_LETTERS = 8
# Nothing that looks like something else on a small screen: no I, L, O, U, 0, 1.
ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
SALT_BYTES = 16
SCRYPT = {"n": 2**14, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024}
_SHAPE = re.compile(r"(\d{1,9})([A-Z2-9]{8})")

RandomBytes = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Code:
    number: int
    table_id: str
    salt: bytes
    hash: bytes
    made_ms: int
    expires_ms: int
    wrong_count: int
    used_by: bytes


class Codes:
    def __init__(self, store: IdentityStore, random_bytes: RandomBytes) -> None:
        self._store = store
        self._random_bytes = random_bytes

    def make(self, table_id: str) -> str:
        """A new code for one table, in the form in which it is read out: 7-K3QX-9M2T."""
        secret, salt = self._new_secret(), self._random_bytes(SALT_BYTES)
        now_ms = self._store.now_ms
        with self._store.transaction():
            if len(self._open()) >= OPEN_MAX:
                raise IdentityError(f"{OPEN_MAX} codes are open already; use or await them first.")
            self._store.execute(
                "INSERT INTO codes (table_id, salt, hash, made_ms, expires_ms)"
                " VALUES (?, ?, ?, ?, ?)",
                (table_id, salt, hashed(secret, salt), now_ms, now_ms + VALID_MS),
            )
            (number,) = self._store.row("SELECT max(number) FROM codes") or (0,)
            sentence = f"An enrolment code for table {table_id} was made."
            self._store.note("ENROLMENT", sentence, "", table_id)
        return f"{number}-{secret[:4]}-{secret[4:]}"

    def check(self, text: str, request_digest: bytes) -> Code:
        """The code's row when it may be used by this request; else counts, notes and refuses."""
        found = _SHAPE.fullmatch(re.sub(r"[\s-]", "", text).upper())
        code = self._find(int(found[1])) if found else None
        if found is None or code is None:
            sentence = "A unit came with an enrolment code that was never made."
            raise WrongCode(self._refused(None, sentence), self._delay_s())
        if not hmac.compare_digest(hashed(found[2], code.salt), code.hash):
            sentence = f"A wrong enrolment code was tried for table {code.table_id}."
            raise WrongCode(self._refused(code, sentence), self._delay_s())
        if code.used_by == request_digest:
            return code  # the same unit asks again, after its connection broke
        if code.used_by:
            sentence = f"Enrolment code {code.number} was used already."
            raise IdentityError(self._refused(None, sentence))
        if self._store.now_ms >= code.expires_ms:
            sentence = f"Enrolment code {code.number} has expired; ask for a new one."
            raise IdentityError(self._refused(None, sentence))
        return code

    def use(self, code: Code, request_digest: bytes) -> None:
        self._store.execute(
            "UPDATE codes SET used_by = ? WHERE number = ?", (request_digest, code.number)
        )

    def wrong_table(self, code: Code, sentence: str) -> IdentityError:
        """The right code in the wrong unit is noted like a wrong one."""
        return IdentityError(self._refused(code, sentence))

    def _refused(self, code: Code | None, sentence: str) -> str:
        with self._store.transaction():
            self._store.note("ENROLMENT_REFUSED", sentence, "", code.table_id if code else "")
            if code is not None:
                self._store.execute(
                    "UPDATE codes SET wrong_count = wrong_count + 1 WHERE number = ?",
                    (code.number,),
                )
        return sentence

    def _delay_s(self) -> int:
        """1, 2, 4 … seconds with each refusal within the time that a code is good for."""
        row = self._store.row(
            "SELECT count(*) FROM log WHERE code = 'ENROLMENT_REFUSED' AND at_ms > ?",
            (self._store.now_ms - VALID_MS,),
        )
        tries = int(row[0]) if row else 1
        return min(DELAY_MAX_S, 1 << min(max(tries - 1, 0), DELAY_MAX_S))

    def _open(self) -> list[Code]:
        rows = self._store.rows(
            "SELECT * FROM codes WHERE used_by = ? AND expires_ms > ?",
            (b"", self._store.now_ms),
        )
        return [Code(*row) for row in rows]

    def _find(self, number: int) -> Code | None:
        row = self._store.row("SELECT * FROM codes WHERE number = ?", (number,))
        return Code(*row) if row else None

    def _new_secret(self) -> str:
        number, letters = int.from_bytes(self._random_bytes(16), "big"), ""
        for _ in range(SECRET_LETTERS):
            number, index = divmod(number, len(ALPHABET))
            letters += ALPHABET[index]
        return letters


def hashed(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, dklen=32, **SCRYPT)
