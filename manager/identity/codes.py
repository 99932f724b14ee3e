"""One-time codes: an operator makes one and reads it out; it works once, soon, for one table.

Kept only as a salted scrypt hash. A code names its row, so that checking one costs one hash however
many are open. Wrong tries are counted: a row closes after a few, all rows after a few more.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass

from manager.identity.errors import IdentityError
from manager.identity.store import IdentityStore

VALID_MS = 15 * 60 * 1000
WRONG_PER_CODE_MAX = 3
WRONG_IN_ALL_MAX = 10
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
    closed: str


class Codes:
    def __init__(self, store: IdentityStore, random_bytes: RandomBytes) -> None:
        self._store = store
        self._random_bytes = random_bytes

    def make(self, table_id: str) -> str:
        """A new code for one table, in the form in which it is read out: 7-K3QX-9M2T."""
        self._refuse_unknown_table(table_id)
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
            raise self._wrong(None, "A unit came with an enrolment code that was never made.")
        if code.closed:
            raise self._wrong(None, f"Enrolment code {code.number} is closed: {code.closed}")
        if not hmac.compare_digest(hashed(found[2], code.salt), code.hash):
            raise self._wrong(code, f"A wrong enrolment code was tried for table {code.table_id}.")
        if code.used_by == request_digest:
            return code  # the same unit asks again, after its connection broke
        if code.used_by:
            raise self._wrong(None, f"Enrolment code {code.number} was used already.")
        if self._store.now_ms >= code.expires_ms:
            raise self._wrong(None, f"Enrolment code {code.number} has expired; ask for a new one.")
        return code

    def use(self, code: Code, request_digest: bytes) -> None:
        self._store.execute(
            "UPDATE codes SET used_by = ? WHERE number = ?", (request_digest, code.number)
        )

    def wrong_table(self, code: Code, sentence: str) -> IdentityError:
        """The right code in the wrong unit counts like a wrong one."""
        return self._wrong(code, sentence)

    def _wrong(self, code: Code | None, sentence: str) -> IdentityError:
        with self._store.transaction():
            self._store.note("ENROLMENT_REFUSED", sentence, "", code.table_id if code else "")
            if code is not None:
                self._store.execute(
                    "UPDATE codes SET wrong_count = wrong_count + 1 WHERE number = ?",
                    (code.number,),
                )
                if code.wrong_count + 1 >= WRONG_PER_CODE_MAX:
                    self._close([code], "too many wrong tries.")
            if self._wrong_since_last_code() >= WRONG_IN_ALL_MAX:
                self._close(self._open(), "too many wrong tries in all.")
        return IdentityError(sentence)

    def _wrong_since_last_code(self) -> int:
        row = self._store.row(
            "SELECT count(*) FROM log WHERE code = 'ENROLMENT_REFUSED'"
            " AND at_ms >= (SELECT coalesce(max(made_ms), 0) FROM codes)"
        )
        return int(row[0]) if row else 0

    def _close(self, codes: list[Code], why: str) -> None:
        for code in codes:
            self._store.execute("UPDATE codes SET closed = ? WHERE number = ?", (why, code.number))
            sentence = f"Enrolment code {code.number} was closed: {why}"
            self._store.note("ENROLMENT", sentence, "", code.table_id)

    def _open(self) -> list[Code]:
        rows = self._store.rows(
            "SELECT * FROM codes WHERE closed = '' AND used_by = x'' AND expires_ms > ?",
            (self._store.now_ms,),
        )
        return [Code(*row) for row in rows]

    def _find(self, number: int) -> Code | None:
        row = self._store.row("SELECT * FROM codes WHERE number = ?", (number,))
        return Code(*row) if row else None

    def _refuse_unknown_table(self, table_id: str) -> None:
        known = [row[0] for row in self._store.rows("SELECT table_id FROM tables")]
        if table_id not in known:
            there = f"there are {', '.join(sorted(known))}" if known else "there is none yet"
            raise IdentityError(f"This manager serves no table {table_id}; {there}.")

    def _new_secret(self) -> str:
        number, letters = int.from_bytes(self._random_bytes(16), "big"), ""
        for _ in range(SECRET_LETTERS):
            number, index = divmod(number, len(ALPHABET))
            letters += ALPHABET[index]
        return letters


def hashed(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, dklen=32, **SCRYPT)
