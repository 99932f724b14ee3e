"""The unit's own identity: its TLS key and certificate, the floor CA it trusts, its signing key.

It alone knows the files. They lie on the unit's data partition, readable by the unit's user alone,
and are made here and nowhere else (`enrol`). What they allow is decided by the manager.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from kit.files import write_private
from protocol.proof.seal import Sealer
from protocol.secrets import tls

HINT = (
    "enrol this unit (sudo underfelt enrol"
    " --manager HOST:PORT --ca-fingerprint HEX --code CODE; the operator has all three)"
)


class IdentityFault(Exception):  # noqa: N818 - the word the floor uses
    """The unit's identity is missing or cannot be used; the sentence says why and what to do."""


class UnitIdentity:
    def __init__(self, data: Path) -> None:
        self.path = data / "identity"
        self.unit = self.path / "unit.pem"  # key and certificate in one file: replaced together
        self.ca = self.path / "ca.pem"
        self.seal_key = self.path / "seal.pem"
        self.pending = self.path / "pending.json"
        self.asking = self.path / "asking.json"

    def check(self, unit_id: str) -> None:
        """Refuses to go on with an identity that is missing, foreign or open to others."""
        if not self.unit.exists():
            raise IdentityFault(f"this unit has no certificate yet; {HINT}")
        for path in (self.unit, self.seal_key):
            check_private(path)
        name = self.certificate_name()
        if name != unit_id:
            raise IdentityFault(
                f"the certificate is for {name}, but this board is {unit_id}; {HINT}"
            )

    def certificate_name(self) -> str:
        try:
            certificate = x509.load_pem_x509_certificate(self.unit.read_bytes())
        except (OSError, ValueError, x509.InvalidVersion) as error:
            raise IdentityFault(f"the unit's certificate cannot be read; {HINT}") from error
        names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        return str(names[0].value) if names else ""

    def ca_fingerprint(self) -> str:
        """Which floor this unit belongs to."""
        try:
            ca = x509.load_pem_x509_certificate(self.ca.read_bytes())
        except (OSError, ValueError, x509.InvalidVersion) as error:
            raise IdentityFault(f"the floor CA's certificate cannot be read; {HINT}") from error
        return tls.fingerprint(ca.public_bytes(Encoding.DER))

    def dates(self) -> list[dict[str, Any]]:
        """From when to when each certificate counts, for a person's eyes; unreadable ones too."""
        found = []
        for name, path in (("unit", self.unit), ("ca", self.ca)):
            try:
                certificate = x509.load_pem_x509_certificate(path.read_bytes())
            except (OSError, ValueError, x509.InvalidVersion):
                found.append({"name": name, "from": None, "until": None})
                continue
            begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
            found.append({"name": name, "from": begins.isoformat(), "until": ends.isoformat()})
        return found

    def context(self) -> ssl.SSLContext:
        """Read anew for each connection: a rotated certificate is used from the next one on."""
        try:
            return tls.unit_context(self.unit, self.unit, self.ca)
        except (OSError, ssl.SSLError) as error:
            raise tls.TlsRefused(f"the unit's certificate cannot be used: {error}") from error

    def sealer(self, unit_id: str) -> Sealer:
        try:
            key = load_pem_private_key(self.seal_key.read_bytes(), password=None)
        except (OSError, ValueError) as error:
            raise IdentityFault(f"the unit's signing key cannot be read; {HINT}") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise IdentityFault(f"the unit's signing key is of the wrong kind; {HINT}")
        return Sealer(unit_id, key.private_bytes_raw())

    def ensure_seal_key(self) -> None:
        """Made once: rotating the certificate keeps the key that older seals were made with."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.seal_key.exists():
            key = Ed25519PrivateKey.generate()
            encoded = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            write_private(self.seal_key, encoded)


def check_private(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise IdentityFault(f"{path.name} cannot be read: {error.strerror}; {HINT}") from error
    if mode & 0o077:
        raise IdentityFault(f"{path.name} can be read by others; it must be mode 600")
