"""An identity store, desk and registry on a folder of the test's own, with a clock to set."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from manager.identity import certificates
from manager.identity.enrolments import Enrolments
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Registry
from manager.identity.store import IdentityStore
from protocol.wire.enrolment import Request

TABLE, UNIT = "touch-1", "UF-touch-1"


class PretendIdentities:
    def __init__(self, data: Path) -> None:
        self.now_ms = 1_700_000_000_000
        self.folder = IdentityFolder(data)
        self.folder.ensure()
        self.store = IdentityStore(str(self.folder.database), lambda: self.now_ms)
        self.registry = Registry(self.store)
        self.enrolments = Enrolments(self.store, self.folder, os.urandom)

    def request(self, code: str, unit_id: str = UNIT) -> Request:
        key = certificates.new_key()
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, unit_id)])
        signed = x509.CertificateSigningRequestBuilder(subject).sign(key, hashes.SHA256())
        return Request(unit_id, code, signed.public_bytes(Encoding.DER), os.urandom(32))

    def table_of_unit(self, unit_id: str) -> str | None:
        return {UNIT: TABLE, "UF-other": "other"}.get(unit_id)

    def enrol(self, unit_id: str = UNIT) -> str:
        """The whole way at once; returns the certificate's fingerprint."""
        request = self.request(self.enrolments.codes.make(TABLE), unit_id)
        pending = self.enrolments.receive(request, self.table_of_unit)
        return self.approve(unit_id, pending.match)

    def approve(self, unit_id: str, match: str, ca_key: Path | None = None) -> str:
        """As the operator's command does it: the digits, the signature, the grant."""
        to_sign = self.enrolments.signing_request(unit_id, match)
        return self.enrolments.grant(unit_id, match, self.folder.issue(unit_id, to_sign, ca_key))

    def notes(self, code: str) -> list[str]:
        rows = self.store.rows("SELECT sentence FROM log WHERE code = ? ORDER BY number", (code,))
        return [row[0] for row in rows]
