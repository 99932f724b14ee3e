"""A floor CA for one run of the kit: it certifies the played manager, and the unit that asks."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kit.files import private_folder, write_private
from protocol.conformance.report import Broken, expect
from protocol.secrets import tls

CA_NAME = "underfelt conformance CA"
BEGIN = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
END = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class FloorCa:
    """The CA and the manager's files below `folder`, kept from run to run."""

    folder: Path

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def manager(self) -> Path:
        """Key and certificate in one file."""
        return self.folder / "manager.pem"

    @property
    def _key(self) -> Path:
        return self.folder / "ca.key"

    def ensure(self) -> None:
        private_folder(self.folder)
        if self.manager.is_file():
            return
        ca_key, manager_key = _new_key(), _new_key()
        builder = _builder(CA_NAME, ca_key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        ca = builder.sign(ca_key, hashes.SHA256())
        write_private(self._key, _pem(ca_key))
        write_private(self.ca, ca.public_bytes(Encoding.PEM))
        usage = ExtendedKeyUsageOID.SERVER_AUTH
        certificate = _issue(ca_key, tls.MANAGER_NAME, manager_key.public_key(), usage)
        write_private(self.manager, _pem(manager_key) + certificate.public_bytes(Encoding.PEM))

    def der(self) -> bytes:
        ca = x509.load_pem_x509_certificate(self.ca.read_bytes())
        return ca.public_bytes(Encoding.DER)

    def certify(self, signing_request: bytes, unit_id: str) -> bytes:
        """The unit's certificate, DER, when its request holds what it must."""
        key = load_pem_private_key(self._key.read_bytes(), password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        public_key = _checked(signing_request, unit_id)
        issued = _issue(key, unit_id, public_key, ExtendedKeyUsageOID.CLIENT_AUTH)
        return issued.public_bytes(Encoding.DER)


def _checked(encoded: bytes, unit_id: str) -> ec.EllipticCurvePublicKey:
    try:
        request = x509.load_der_x509_csr(encoded)
        key, is_proven = request.public_key(), request.is_signature_valid
    except (ValueError, TypeError, UnsupportedAlgorithm, InvalidSignature) as error:
        raise Broken(f"the signing request cannot be read: {error}") from error
    names = [name.value for name in request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    expect(names == [unit_id], f"the signing request is for {names}, not for {unit_id}")
    expect(is_proven, "the signing request is not signed with its own key")
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise Broken("the signing request is not for a P-256 key")
    return key


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _builder(name: str, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        issuer_name=_name(CA_NAME),
        subject_name=_name(name),
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=BEGIN,
        not_valid_after=END,
    ).add_extension(x509.SubjectKeyIdentifier.from_public_key(key), False)


def _issue(
    ca_key: ec.EllipticCurvePrivateKey,
    name: str,
    key: ec.EllipticCurvePublicKey,
    usage: x509.ObjectIdentifier,
) -> x509.Certificate:
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = _builder(name, key)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), False)
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
    return builder.add_extension(issuer, False).sign(ca_key, hashes.SHA256())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
