"""Files that look like signed updates, as RAUC lays them out: payload, signature, its length."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs7
from cryptography.x509.oid import NameOID

BOARD = "underfelt-unit-test"
MANIFEST = """[update]
compatible={board}
version={version}
build=journal=1

[bundle]
format={form}
verity-hash=00
"""


@cache
def _signer() -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "update signer")])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=730))
        .sign(key, hashes.SHA256())
    )
    return key, certificate


def signature(content: bytes) -> bytes:
    key, certificate = _signer()
    return (
        pkcs7.PKCS7SignatureBuilder()
        .set_data(content)
        .add_signer(certificate, key, hashes.SHA256())
        .sign(serialization.Encoding.DER, [pkcs7.PKCS7Options.Binary])
    )


def update_file(
    version: str, payload_bytes: int = 1_000_000, board: str = BOARD, form: str = "verity"
) -> bytes:
    payload = b"hsqs" + random.Random(version).randbytes(payload_bytes)
    signed = signature(MANIFEST.format(board=board, version=version, form=form).encode())
    return payload + signed + len(signed).to_bytes(8, "big")
