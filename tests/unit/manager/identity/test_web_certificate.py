"""The pages' certificate: of the floor's own authority, for this machine, renewed in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from manager.identity.certificates import WEB_GOOD, WEB_RENEWED_BEFORE, is_good_for
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder

NOW = datetime(2026, 11, 17, tzinfo=UTC)
NAMES = {"localhost", "127.0.0.1", "floor.example"}


@pytest.fixture
def folder(tmp_path: Path) -> IdentityFolder:
    folder = IdentityFolder(tmp_path)
    folder.ensure()
    folder.ensure_web(NAMES, NOW)
    return folder


def web(folder: IdentityFolder) -> x509.Certificate:
    return x509.load_pem_x509_certificate(folder.web.read_bytes())


def test_it_is_of_the_floors_authority_and_names_the_machine(folder: IdentityFolder) -> None:
    certificate = web(folder)
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(folder.ca.read_bytes()))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert set(names.get_values_for_type(x509.DNSName)) == {"localhost", "floor.example"}
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert folder.web_key.stat().st_mode & 0o077 == 0
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc < timedelta(days=400)


def test_it_stays_until_it_must_be_renewed(folder: IdentityFolder) -> None:
    first = web(folder)
    folder.ensure_web(NAMES, NOW + timedelta(days=300))
    assert web(folder) == first
    folder.ensure_web(NAMES, NOW + WEB_GOOD - timedelta(days=59))
    assert web(folder) != first


def test_another_name_needs_another_one(folder: IdentityFolder) -> None:
    first = web(folder)
    folder.ensure_web(NAMES | {"office.example"}, NOW)
    assert web(folder) != first


def test_without_the_authoritys_key_the_old_one_stays_and_the_first_is_refused(
    folder: IdentityFolder,
) -> None:
    folder.ca_key.rename(folder.ca_key.with_suffix(".away"))
    first = web(folder)
    folder.ensure_web(NAMES | {"office.example"}, NOW)
    assert web(folder) == first
    folder.web.unlink()
    with pytest.raises(IdentityError):
        folder.ensure_web(NAMES, NOW)


def test_a_power_cut_between_key_and_certificate_is_mended(folder: IdentityFolder) -> None:
    folder.web_key.write_bytes(folder.manager_key.read_bytes())
    folder.ensure_web(NAMES, NOW)
    assert folder._web_is_good(NAMES, NOW)


def test_it_is_renewed_from_the_very_moment_on(folder: IdentityFolder) -> None:
    """Catches: a limit that lies on the other side of what the page says."""
    first = web(folder)
    due = first.not_valid_after_utc - WEB_RENEWED_BEFORE
    assert is_good_for(first, NAMES, due - timedelta(seconds=1))
    assert not is_good_for(first, NAMES, due)
