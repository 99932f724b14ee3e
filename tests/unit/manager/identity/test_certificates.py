"""What stands in the floor's certificates, and which signing requests are refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import verification
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from manager.identity import certificates
from manager.identity.errors import IdentityError
from protocol.secrets.tls import MANAGER_NAME

CA_KEY = certificates.new_key()
CA = certificates.make_ca(CA_KEY)
# A Pi without a battery starts in 1970; one with a broken clock may be anywhere.
CLOCKS = [
    datetime(1970, 1, 2, tzinfo=UTC),
    datetime(2026, 6, 1, tzinfo=UTC),
    datetime(2200, 1, 1, tzinfo=UTC),
]


def request(name: str, key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> bytes:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    digest = hashes.SHA256() if isinstance(key, ec.EllipticCurvePrivateKey) else None
    signed = x509.CertificateSigningRequestBuilder(subject).sign(key, digest)
    return signed.public_bytes(Encoding.DER)


def verifier(at: datetime) -> verification.PolicyBuilder:
    return verification.PolicyBuilder().store(verification.Store([CA])).time(at)


@pytest.mark.parametrize("at", CLOCKS, ids=lambda at: str(at.year))
def test_a_wrong_clock_on_either_side_ends_no_certificate(at: datetime) -> None:
    manager = certificates.issue_manager(CA, CA_KEY, certificates.new_key())
    unit = certificates.issue_unit(CA, CA_KEY, "UF-0001", certificates.new_key().public_key())
    server = verifier(at).build_server_verifier(x509.DNSName(MANAGER_NAME))
    assert server.verify(manager, []) == [manager, CA]
    assert verifier(at).build_client_verifier().verify(unit, []).chain == [unit, CA]


def may(certificate: x509.Certificate) -> set[str]:
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    names = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment")
    names += ("key_agreement", "key_cert_sign", "crl_sign")
    return {name for name in names if getattr(usage, name)}


def test_a_key_may_do_only_what_its_certificate_is_for() -> None:
    unit = certificates.issue_unit(CA, CA_KEY, "UF-0001", certificates.new_key().public_key())
    manager = certificates.issue_manager(CA, CA_KEY, certificates.new_key())
    assert may(CA) == {"key_cert_sign", "crl_sign"}
    assert may(unit) == may(manager) == {"digital_signature"}


def test_a_units_certificate_is_no_servers_and_no_other_units() -> None:
    unit = certificates.issue_unit(CA, CA_KEY, "UF-0001", certificates.new_key().public_key())
    for name in (MANAGER_NAME, "UF-0001", "UF-0002"):
        server = verifier(CLOCKS[1]).build_server_verifier(x509.DNSName(name))
        with pytest.raises(verification.VerificationError):
            server.verify(unit, [])
    usage = unit.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_a_certificate_names_its_unit_twice_and_has_a_p_256_key() -> None:
    unit = certificates.issue_unit(CA, CA_KEY, "UF-0001", certificates.new_key().public_key())
    names = unit.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["UF-0001"]
    assert unit.subject.rfc4514_string() == "CN=UF-0001"
    for certificate in (unit, CA):
        key = certificate.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        assert isinstance(key.curve, ec.SECP256R1)


def test_a_units_certificate_cannot_issue_others() -> None:
    key = certificates.new_key()
    unit = certificates.issue_unit(CA, CA_KEY, "UF-0001", key.public_key())
    forged = certificates.issue_unit(unit, key, "UF-0002", certificates.new_key().public_key())
    with pytest.raises(verification.VerificationError):
        verifier(CLOCKS[1]).build_client_verifier().verify(forged, [unit])
    # Each of these alone would be enough; verifiers differ in which of them they look at.
    constraints = x509.BasicConstraints
    assert not unit.extensions.get_extension_for_class(constraints).value.ca
    assert CA.extensions.get_extension_for_class(constraints).value.path_length == 0


def test_a_good_request_gives_its_key() -> None:
    key = certificates.new_key()
    assert certificates.read_request(request("UF-1", key), "UF-1") == key.public_key()


def test_a_request_that_is_not_this_units_p_256_key_in_use_is_refused() -> None:
    key = certificates.new_key()
    good = request("UF-1", key)
    altered = good[:-1] + bytes([good[-1] ^ 1])
    refusals = {
        "cannot be read": b"\x30\x00",
        "is not for unit": request("UF-2", key),
        "not for a P-256 key": request("UF-1", ec.generate_private_key(ec.SECP384R1())),
        "does not prove": altered,
    }
    for sentence, encoded in refusals.items():
        with pytest.raises(IdentityError, match=sentence):
            certificates.read_request(encoded, "UF-1")
    with pytest.raises(IdentityError, match="not for a P-256 key"):
        certificates.read_request(request("UF-1", ed25519.Ed25519PrivateKey.generate()), "UF-1")


@pytest.mark.parametrize(
    "name", ["", "UF 1", "UF_1", "-UF", "UF-", "ü", "x" * 33, "*.uf", MANAGER_NAME]
)
def test_a_name_that_a_certificate_cannot_carry_is_refused(name: str) -> None:
    with pytest.raises(IdentityError, match="cannot be called"):
        certificates.check_unit_name(name)


@pytest.mark.parametrize("name", ["UF-0001", "u", "A1", "x" * 32])
def test_a_board_serial_is_a_good_name(name: str) -> None:
    certificates.check_unit_name(name)
