"""Enrolments: a unit asks with a one-time code, a person compares six digits and approves.

It alone knows the way from a request to a certificate. The serving process receives requests and
hands certificates out; it never opens the CA's key. The operator's own process signs what a unit
asked for, and what it brings back is checked before it counts.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from manager.identity import certificates
from manager.identity.codes import Code, Codes, RandomBytes
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Registry
from manager.identity.store import IdentityStore
from protocol.secrets import tls
from protocol.wire.enrolment import NONCE_BYTES, Request, match_number

REQUEST_VALID_MS = 30 * 60 * 1000
WRONG_MATCHES_MAX = 3

TableOfUnit = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Pending:
    """A request and what became of it."""

    number: int
    digest: bytes
    unit_id: str
    table_id: str
    signing_request: bytes
    seal_key: bytes
    nonce: bytes
    match: str
    received_ms: int
    wrong_count: int
    denied: str
    certificate: bytes

    @property
    def waits(self) -> bool:
        return not self.denied and not self.certificate


class Enrolments:
    def __init__(
        self, store: IdentityStore, folder: IdentityFolder, random_bytes: RandomBytes
    ) -> None:
        self._store = store
        self._folder = folder
        self._random_bytes = random_bytes
        self._registry = Registry(store)
        self.codes = Codes(store, random_bytes)

    # -- what a unit asks for --------------------------------------------------------------------

    def receive(self, request: Request, table_of_unit: TableOfUnit) -> Pending:
        """A request with a good code waits for approval; the same request again is the same one."""
        digest = hashlib.sha256(request.content()).digest()
        code = self.codes.check(request.code, digest)
        known = self._by_digest(digest)
        if known is not None:
            return known
        self._check_unit(request, code, table_of_unit)
        certificates.read_request(request.signing_request, request.unit_id)
        return self._keep(request, digest, code)

    def look(self, number: int) -> Pending:
        """The request as it stands now; one that nobody approved in time is denied."""
        row = self._store.row("SELECT * FROM requests WHERE number = ?", (number,))
        if row is None:
            raise IdentityError(f"There is no request {number}.")
        pending = Pending(*row)
        if pending.waits and self._store.now_ms - pending.received_ms > REQUEST_VALID_MS:
            self._deny(pending, "Nobody approved the request in time.")
            return self.look(number)
        return pending

    # -- what the operator asks for --------------------------------------------------------------

    def waiting(self) -> list[Pending]:
        rows = self._store.rows("SELECT number FROM requests WHERE denied = '' ORDER BY number")
        return [pending for (number,) in rows if (pending := self.look(number)).waits]

    def signing_request(self, unit_id: str, match: str) -> bytes:
        """What the unit wants signed, when the digits are the ones it shows."""
        return self._matching(unit_id, match).signing_request

    def grant(self, unit_id: str, match: str, certificate: bytes) -> str:
        """Gives the unit the certificate that the operator signed; returns its fingerprint."""
        pending = self._matching(unit_id, match)
        ca_der = self._folder.ca_der()
        certificates.check_issued(certificate, ca_der, unit_id, pending.signing_request)
        self._grant(pending, certificate)
        return tls.fingerprint(certificate)

    def _matching(self, unit_id: str, match: str) -> Pending:
        pending = self._only_waiting(unit_id)
        digits = "".join(letter for letter in match if letter.isdigit())
        if not hmac.compare_digest(digits, pending.match):
            raise self._wrong_match(pending)
        return pending

    def deny(self, unit_id: str) -> None:
        waiting = [pending for pending in self.waiting() if pending.unit_id == unit_id]
        if not waiting:
            raise IdentityError(f"No request of a unit {unit_id} waits for approval.")
        for pending in waiting:
            self._deny(pending, "The operator refused the request.")

    # -- inside --------------------------------------------------------------------------------

    def _check_unit(self, request: Request, code: Code, table_of_unit: TableOfUnit) -> None:
        certificates.check_unit_name(request.unit_id)
        table_id = table_of_unit(request.unit_id)
        if table_id != code.table_id:
            raise self.codes.wrong_table(
                code,
                f"Unit {request.unit_id} came with the enrolment code of table {code.table_id},"
                f" which it does not serve.",
            )

    def _keep(self, request: Request, digest: bytes, code: Code) -> Pending:
        nonce = self._random_bytes(NONCE_BYTES)
        match = match_number(nonce, self._folder.ca_der(), request.content())
        with self._store.transaction():
            self.codes.use(code, digest)
            self._store.execute(
                "INSERT INTO requests (digest, unit_id, table_id, signing_request, seal_key, nonce,"
                " match, received_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    digest,
                    request.unit_id,
                    code.table_id,
                    request.signing_request,
                    request.seal_key,
                    nonce,
                    match,
                    self._store.now_ms,
                ),
            )
            sentence = (
                f"Unit {request.unit_id} asks to be enrolled for table {code.table_id}."
                " Type the six digits that it shows to approve it."
            )
            self._store.note("ENROLMENT", sentence, request.unit_id, code.table_id)
        kept = self._by_digest(digest)
        assert kept is not None
        return kept

    def _grant(self, pending: Pending, certificate: bytes) -> None:
        fingerprint = tls.fingerprint(certificate)
        with self._store.transaction():
            self._registry.add(fingerprint, pending.unit_id)
            self._registry.add_seal_key(pending.unit_id, pending.seal_key)
            self._store.execute(
                "UPDATE requests SET certificate = ? WHERE number = ?",
                (certificate, pending.number),
            )
            sentence = f"Unit {pending.unit_id} was given the certificate {fingerprint[:16]}."
            self._store.note("ENROLLED", sentence, pending.unit_id, pending.table_id)

    def _wrong_match(self, pending: Pending) -> IdentityError:
        sentence = f"These are not the digits that belong to the request of {pending.unit_id}."
        with self._store.transaction():
            self._store.execute(
                "UPDATE requests SET wrong_count = wrong_count + 1 WHERE number = ?",
                (pending.number,),
            )
            self._store.note("ENROLMENT_REFUSED", sentence, pending.unit_id, pending.table_id)
        if pending.wrong_count + 1 >= WRONG_MATCHES_MAX:
            self._deny(pending, "The digits did not match.")
            sentence += " The request was refused; start again with a new code."
        return IdentityError(sentence)

    def _deny(self, pending: Pending, why: str) -> None:
        with self._store.transaction():
            self._store.execute(
                "UPDATE requests SET denied = ? WHERE number = ?", (why, pending.number)
            )
            sentence = f"The request of unit {pending.unit_id} was refused: {why}"
            self._store.note("ENROLMENT_REFUSED", sentence, pending.unit_id, pending.table_id)

    def _only_waiting(self, unit_id: str) -> Pending:
        waiting = [pending for pending in self.waiting() if pending.unit_id == unit_id]
        if not waiting:
            raise IdentityError(f"No request of a unit {unit_id} waits for approval.")
        if len(waiting) > 1:
            raise IdentityError(
                f"{len(waiting)} requests claim to be unit {unit_id}. Refuse them all and start"
                " again with a new code: someone else may be asking in its name."
            )
        return waiting[0]

    def _by_digest(self, digest: bytes) -> Pending | None:
        row = self._store.row("SELECT number FROM requests WHERE digest = ?", (digest,))
        return self.look(row[0]) if row else None
