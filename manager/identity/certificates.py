"""Makes the floor's certificates: the CA, the manager's own, and one per unit.

It alone knows what stands in a certificate. They are good from 1970 to the end of time on purpose:
a unit's clock may be wrong, so it is never a date that ends a certificate but the manager's own
list (`registry`). Where keys are kept is not known here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kit.config import Name
from manager.identity.errors import IdentityError
from protocol.secrets.tls import MANAGER_NAME

CA_NAME = "Underfelt floor CA"
UNIT_NAME = Name()  # the same as board.serial in a table's file
NOT_BEFORE = datetime(1970, 1, 1, tzinfo=UTC)
NOT_AFTER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)  # RFC 5280: no well-defined end

WEB_NAME = "Underfelt pages"
WEB_GOOD = timedelta(days=397)  # phones take no more than that
WEB_RENEWED_BEFORE = timedelta(days=60)

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


def issue_web(
    ca: x509.Certificate, ca_key: Key, key: Key, names: Collection[str], now: datetime
) -> x509.Certificate:
    """The pages' certificate. Browsers know the time, and distrust what is good for ever."""
    good = (now - timedelta(days=1), now + WEB_GOOD)
    usage = ExtendedKeyUsageOID.SERVER_AUTH
    return _issue(ca, ca_key, WEB_NAME, key.public_key(), usage, names, good)


def is_good_for(certificate: x509.Certificate, names: Collection[str], now: datetime) -> bool:
    """True while a browser that uses one of the names has no reason to object."""
    extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    has_names = set(_general_names(names)) <= set(extension.value)
    return has_names and now + WEB_RENEWED_BEFORE < certificate.not_valid_after_utc


def check_unit_name(unit_id: str) -> None:
    if not UNIT_NAME.fits(unit_id):
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


def check_issued(encoded: bytes, ca_der: bytes, unit_id: str, signing_request: bytes) -> None:
    """Refuses a certificate that is not of this floor's CA, for this unit and its key."""
    try:
        certificate = x509.load_der_x509_certificate(encoded)
        certificate.verify_directly_issued_by(x509.load_der_x509_certificate(ca_der))
        subject = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        key = certificate.public_key()
    except UNREADABLE as error:
        raise IdentityError("The certificate is not one of this floor's CA.") from error
    names = [name.value for name in subject]
    if names != [unit_id] or key != read_request(signing_request, unit_id):
        raise IdentityError(f"The certificate is not the one that unit {unit_id} asked for.")


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
    names: Collection[str] = (),
    good: tuple[datetime, datetime] = (NOT_BEFORE, NOT_AFTER),
) -> x509.Certificate:
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = _builder(CA_NAME, name, public_key, good)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
    known_as = x509.SubjectAlternativeName(_general_names(names or [name]))
    builder = builder.add_extension(known_as, False)
    builder = builder.add_extension(_key_usage(signs_certificates=False), True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
    builder = builder.add_extension(issuer_key, False)
    return builder.sign(ca_key, hashes.SHA256())


def _builder(
    issuer: str,
    subject: str,
    public_key: ec.EllipticCurvePublicKey,
    good: tuple[datetime, datetime] = (NOT_BEFORE, NOT_AFTER),
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder(
        issuer_name=_name(issuer),
        subject_name=_name(subject),
        public_key=public_key,
        serial_number=x509.random_serial_number(),
        not_valid_before=good[0],
        not_valid_after=good[1],
    )
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), False)


def _general_names(names: Collection[str]) -> list[x509.GeneralName]:
    """Addresses as addresses, everything else as a name; each once, in order."""
    found: list[x509.GeneralName] = []
    for name in sorted(set(names)):
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            found.append(x509.DNSName(name))
    return found


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
