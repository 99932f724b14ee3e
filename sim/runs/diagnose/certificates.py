"""Certificates for one simulated table, and what a real TLS handshake makes of them.

The simulated network carries no TLS. Where certificates are the fault, both ends' own contexts
shake hands in memory, and the unit is told what its TLS library then says.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from protocol.secrets import tls

DAY = timedelta(days=1)


class Authority:
    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        now = datetime.now(UTC)
        built = _begin(
            self._name, self._name, self._key.public_key(), now - 300 * DAY, now + 999 * DAY
        )
        self.certificate = built.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        ).sign(self._key, SHA256())

    def write(self, path: Path) -> None:
        path.write_bytes(self.certificate.public_bytes(Encoding.PEM))

    def issue(self, name: str, path: Path, until: datetime) -> None:
        """Key and certificate in one file."""
        key = ec.generate_private_key(ec.SECP256R1())
        begins = min(datetime.now(UTC), until) - 200 * DAY
        built = _begin(_named(name), self._name, key.public_key(), begins, until)
        certificate = built.add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False
        ).sign(self._key, SHA256())
        encoded = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path.write_bytes(encoded + certificate.public_bytes(Encoding.PEM))


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begin(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    begins: datetime,
    ends: datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
    )


def handshake_error(unit: ssl.SSLContext, manager: ssl.SSLContext) -> str:
    """What the unit's end says of this handshake, "" when both accept each other."""
    to_unit, to_manager = ssl.MemoryBIO(), ssl.MemoryBIO()
    at_unit = unit.wrap_bio(to_unit, to_manager, server_hostname=tls.MANAGER_NAME)
    at_manager = manager.wrap_bio(to_manager, to_unit, server_side=True)
    steps = (at_unit.do_handshake, at_manager.do_handshake) * 3
    for step in (*steps, lambda: at_unit.read(1)):
        try:
            step()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLError as error:
            if step == at_manager.do_handshake:
                continue  # the manager's own opinion; the unit hears of it as an alert
            return tls.in_words(error)
    return ""
