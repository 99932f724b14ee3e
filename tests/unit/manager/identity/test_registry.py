"""The list of certificates: what counts, what no longer does, and how one is replaced."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from manager.identity.errors import IdentityError
from manager.identity.store import IdentityStore
from tests.kit.identity_store import UNIT, PretendIdentities


def test_an_unknown_a_misnamed_and_a_revoked_certificate_are_refused(
    identities: PretendIdentities,
) -> None:
    fingerprint = identities.enrol()
    registry = identities.registry
    assert registry.why_refused(fingerprint, UNIT) == ""
    assert "not in this manager's list" in registry.why_refused("00" * 32, UNIT)
    assert "was issued for UF-touch-1" in registry.why_refused(fingerprint, "UF-other")
    assert registry.revoke(UNIT, "Lost.") == 1
    assert "no longer counts: it was revoked: Lost." in registry.why_refused(fingerprint, UNIT)
    assert any("Lost." in note for note in identities.notes("REVOKED"))


def test_revoking_changes_one_row_and_only_that_units(identities: PretendIdentities) -> None:
    fingerprint = identities.enrol()
    identities.registry.add("ab" * 32, "UF-other")
    before = dict(identities.store.rows("SELECT fingerprint, ended FROM certificates"))
    identities.registry.revoke(UNIT, "Lost.")
    after = dict(identities.store.rows("SELECT fingerprint, ended FROM certificates"))
    assert [name for name in before if before[name] != after[name]] == [fingerprint]


def test_what_cannot_be_revoked_says_so(identities: PretendIdentities) -> None:
    with pytest.raises(IdentityError, match="ever issued to a unit UF-9"):
        identities.registry.revoke("UF-9", "Why not.")
    identities.enrol()
    identities.registry.revoke(UNIT, "Lost.")
    with pytest.raises(IdentityError, match="has no certificate that counts"):
        identities.registry.revoke(UNIT, "Lost again.")


def test_an_old_certificate_is_retired_only_once_the_new_one_is_in_use(
    identities: PretendIdentities,
) -> None:
    registry = identities.registry
    old = identities.enrol()
    with pytest.raises(IdentityError, match="no older certificate"):
        registry.retire(UNIT)
    identities.now_ms += 1000
    new = identities.enrol()
    assert registry.why_refused(old, UNIT) == registry.why_refused(new, UNIT) == ""
    with pytest.raises(IdentityError, match="would take the table off the floor"):
        registry.retire(UNIT)
    registry.note_use(new)
    assert [each.fingerprint for each in registry.retire(UNIT)] == [old]
    assert "was replaced by" in registry.why_refused(old, UNIT)
    assert registry.why_refused(new, UNIT) == ""


def test_a_certificate_in_use_is_written_down_once(identities: PretendIdentities) -> None:
    fingerprint = identities.enrol()
    for _ in range(3):
        identities.now_ms += 1
        identities.registry.note_use(fingerprint)
    assert len(identities.notes("IDENTITY")) == 1


def test_the_log_cannot_be_edited(identities: PretendIdentities) -> None:
    identities.enrol()
    with pytest.raises(IdentityError, match="append-only"):
        identities.store.execute("UPDATE log SET sentence = 'Nothing happened.'")
    with pytest.raises(IdentityError, match="append-only"):
        identities.store.execute("DELETE FROM log")


def test_a_file_that_is_no_list_of_identities_is_refused(identities: PretendIdentities) -> None:
    path = identities.folder.path / "other.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(IdentityError, match="cannot be used"):
        IdentityStore(str(path), lambda: 0)


def test_a_disk_without_room_is_told_and_not_what_followed_from_it(tmp_path: Path) -> None:
    """Catches: "cannot rollback", where the reason is that nothing could be written."""
    store = IdentityStore(str(tmp_path / "identity.sqlite"), lambda: 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(IdentityError, match="disk"), store.transaction():
            store.note("CODE", "A sentence.")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.untold() == []
    store.close()
