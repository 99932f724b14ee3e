"""The unit's own identity files: private, whole, and of this board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from controller.link.enrol import ManagerPlace, _install
from controller.link.identity import IdentityFault, UnitIdentity
from kit.files import write_private
from manager.identity import certificates
from protocol.secrets.tls import TlsRefused

CA_KEY = certificates.new_key()
CA = certificates.make_ca(CA_KEY)


def make(data: Path, name: str = "UF-1") -> UnitIdentity:
    identity = UnitIdentity(data)
    identity.ensure_seal_key()
    key = certificates.new_key()
    certificate = certificates.issue_unit(CA, CA_KEY, name, key.public_key())
    write_private(identity.unit, certificates.key_pem(key) + certificates.pem(certificate))
    write_private(identity.ca, certificates.pem(CA))
    return identity


def test_a_unit_that_was_never_enrolled_says_what_to_do(tmp_path: Path) -> None:
    """What its process does meanwhile: tests/contract/test_unenrolled_unit.py."""
    with pytest.raises(IdentityFault, match=r"no certificate yet; .*sudo underfelt enrol"):
        UnitIdentity(tmp_path).check("UF-1")


def test_a_good_identity_is_private_and_gives_a_context_and_a_sealer(tmp_path: Path) -> None:
    identity = make(tmp_path)
    identity.check("UF-1")
    identity.context()
    assert identity.path.stat().st_mode & 0o777 == 0o700
    first = identity.sealer("UF-1").public_key
    identity.ensure_seal_key()
    assert identity.sealer("UF-1").public_key == first


@pytest.mark.parametrize("name", ["unit", "seal_key"])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, name: str) -> None:
    identity = make(tmp_path)
    getattr(identity, name).chmod(0o644)
    with pytest.raises(IdentityFault, match="must be mode 600"):
        identity.check("UF-1")


def test_another_boards_card_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IdentityFault, match="is for UF-2, but this board is UF-1"):
        make(tmp_path, "UF-2").check("UF-1")


def test_damaged_files_are_refused_with_a_sentence(tmp_path: Path) -> None:
    identity = make(tmp_path)
    write_private(identity.unit, b"nothing")
    with pytest.raises(IdentityFault, match="cannot be read"):
        identity.check("UF-1")
    with pytest.raises(TlsRefused, match="cannot be used"):
        identity.context()
    write_private(identity.seal_key, identity.ca.read_bytes())
    with pytest.raises(IdentityFault, match="signing key cannot be read"):
        identity.sealer("UF-1")
    write_private(identity.seal_key, certificates.key_pem(certificates.new_key()))
    with pytest.raises(IdentityFault, match="wrong kind"):
        identity.sealer("UF-1")
    assert len(identity.ca_fingerprint()) == 64
    for damaged in (b"nothing", None):
        identity.ca.write_bytes(damaged) if damaged else identity.ca.unlink()
        with pytest.raises(IdentityFault, match="floor CA's certificate cannot be read"):
            identity.ca_fingerprint()


def test_a_certificate_for_another_key_or_from_another_ca_is_not_installed(tmp_path: Path) -> None:
    identity = UnitIdentity(tmp_path)
    identity.ensure_seal_key()
    key, other_key = certificates.new_key(), certificates.new_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "UF-1")])
    request = x509.CertificateSigningRequestBuilder(subject).sign(key, hashes.SHA256())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    stored = {"unit_id": "UF-1", "key": pem, "request": request.public_bytes(Encoding.DER).hex()}
    write_private(identity.pending, json.dumps(stored).encode())
    ca_der = certificates.der(CA)
    elsewhere_key = certificates.new_key()
    elsewhere = certificates.make_ca(elsewhere_key)
    wrong = {
        "another unit or key": certificates.issue_unit(CA, CA_KEY, "UF-1", other_key.public_key()),
        "or key": certificates.issue_unit(CA, CA_KEY, "UF-2", key.public_key()),
        "no certificate of this floor": certificates.issue_unit(
            elsewhere, elsewhere_key, "UF-1", key.public_key()
        ),
    }
    for sentence, certificate in wrong.items():
        with pytest.raises(IdentityFault, match=sentence):
            _install(identity, "UF-1", ca_der, certificates.der(certificate))
        assert not identity.unit.exists()
    good = certificates.issue_unit(CA, CA_KEY, "UF-1", key.public_key())
    _install(identity, "UF-1", ca_der, certificates.der(good))
    identity.check("UF-1")
    assert not identity.pending.exists()


@pytest.mark.parametrize("address", ["", "host", "host:", ":7412", "host:port"])
def test_an_address_needs_a_host_and_a_port(address: str) -> None:
    with pytest.raises(IdentityFault, match="is no address"):
        ManagerPlace.parse(address, "ab" * 32)


def test_a_fingerprint_is_read_as_people_copy_it() -> None:
    spelled = ":".join(["AB"] * 32)
    assert ManagerPlace.parse("[::1]:7412", spelled) == ManagerPlace("::1", 7412, "ab" * 32)
    with pytest.raises(IdentityFault, match="64 hexadecimal digits"):
        ManagerPlace.parse("host:1", "ab" * 31)


def test_the_dates_of_both_certificates_are_told_when_one_cannot_be_read(tmp_path: Path) -> None:
    """Catches: the first certificate that cannot be read ends the list."""
    identity = UnitIdentity(tmp_path)
    assert [each["name"] for each in identity.dates()] == ["unit", "ca"]
    assert {each["until"] for each in identity.dates()} == {None}


def test_the_dates_of_a_certificate_are_its_own(tmp_path: Path) -> None:
    identity = UnitIdentity(tmp_path)
    identity.ensure_seal_key()
    identity.ca.write_bytes(certificates.pem(CA))
    dates = (CA.not_valid_before_utc.isoformat(), CA.not_valid_after_utc.isoformat())
    nothing = {"name": "unit", "from": None, "until": None}
    assert identity.dates() == [nothing, {"name": "ca", "from": dates[0], "until": dates[1]}]
