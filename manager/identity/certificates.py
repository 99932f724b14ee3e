"""Makes the floor's certificates: the CA, the manager's own, and one per unit.

It alone knows what stands in a certificate. They are good from 1970 to the end of time on purpose:
a unit's clock may be wrong, so it is never a date that ends a certificate but the manager's own
list (`registry`). Where keys are kept is not known here.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from manager.identity.errors import IdentityError
from protocol.tls import MANAGER_NAME

CA_NAME = "Underfelt floor CA"
UNIT_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?")
NOT_BEFORE = datetime(1970, 1, 1, tzinfo=UTC)
NOT_AFTER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)  # RFC 5280: no well-defined end

# What reading a request that a stranger sent may end in.
UNREADABLE = (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm, x509.InvalidVersion)

Key = ec.EllipticCurvePrivateKey


def new_key() -> Key:
    return ec.generate_private_key(ec.SECP256R1())


def make_ca(key: Key) -> x509.Certificate:
    builder = _builder(CA_NAME, CA_NAME, key.public_key())
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_key_usage(signs_certificates=True), critical=True)
    return builder.sign(key, hashes.SHA256())


def issue_manager(ca: x509.Certificate, ca_key: Key, key: Key) -> x509.Certificate:
    return _issue(ca, ca_key, MANAGER_NAME, key.public_key(), ExtendedKeyUsageOID.SERVER_AUTH)


def issue_unit(
    ca: x509.Certificate, ca_key: Key, unit_id: str, public_key: ec.EllipticCurvePublicKey
) -> x509.Certificate:
    """A unit's certificate can only be a client's: with it nobody can pose as the manager."""
    return _issue(ca, ca_key, unit_id, public_key, ExtendedKeyUsageOID.CLIENT_AUTH)


def check_unit_name(unit_id: str) -> None:
    if not UNIT_NAME.fullmatch(unit_id) or unit_id == MANAGER_NAME:
        raise IdentityError(
            f"A unit cannot be called {unit_id!r}: a certificate takes letters, digits and hyphens."
        )


def read_request(encoded: bytes, unit_id: str) -> ec.EllipticCurvePublicKey:
    """The public key of a signing request, when it is a P-256 key of this unit, proven by use."""
    try:
        request = x509.load_der_x509_csr(encoded)
        names = [name.value for name in request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        key = request.public_key()
        proven = request.is_signature_valid
    except UNREADABLE as error:
        raise IdentityError("The signing request cannot be read.") from error
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise IdentityError("The signing request is not for a P-256 key.")
    if not proven:
        raise IdentityError("The signing request does not prove that its key is at hand.")
    if names != [unit_id]:
        raise IdentityError(f"The signing request is not for unit {unit_id}.")
    return key


def der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.DER)


def pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def key_pem(key: Key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _issue(
    ca: x509.Certificate,
    ca_key: Key,
    name: str,
    public_key: ec.EllipticCurvePublicKey,
    usage: x509.ObjectIdentifier,
) -> x509.Certificate:
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = _builder(CA_NAME, name, public_key)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), False)
    builder = builder.add_extension(_key_usage(signs_certificates=False), True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
    builder = builder.add_extension(issuer_key, False)
    return builder.sign(ca_key, hashes.SHA256())


def _builder(
    issuer: str, subject: str, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder(
        issuer_name=_name(issuer),
        subject_name=_name(subject),
        public_key=public_key,
        serial_number=x509.random_serial_number(),
        not_valid_before=NOT_BEFORE,
        not_valid_after=NOT_AFTER,
    )
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), False)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _key_usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
