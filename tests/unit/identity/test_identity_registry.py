"""The list of certificates: what counts, what no longer does, and how one is replaced."""

from __future__ import annotations

import pytest

from manager.identity.errors import IdentityError
from manager.identity.store import IdentityStore
from tests.unit.identity.identity_desk import UNIT, IdentityDesk


def test_an_unknown_a_misnamed_and_a_revoked_certificate_are_refused(office: IdentityDesk) -> None:
    fingerprint = office.enrol()
    registry = office.registry
    assert registry.why_refused(fingerprint, UNIT) == ""
    assert "not in this manager's list" in registry.why_refused("00" * 32, UNIT)
    assert "was issued for UF-touch-1" in registry.why_refused(fingerprint, "UF-other")
    assert registry.revoke(UNIT, "Lost.") == 1
    assert "no longer counts: it was revoked: Lost." in registry.why_refused(fingerprint, UNIT)
    assert any("Lost." in note for note in office.notes("REVOKED"))


def test_revoking_changes_one_row_and_only_that_units(office: IdentityDesk) -> None:
    fingerprint = office.enrol()
    office.registry.add("ab" * 32, "UF-other")
    before = dict(office.store.rows("SELECT fingerprint, ended FROM certificates"))
    office.registry.revoke(UNIT, "Lost.")
    after = dict(office.store.rows("SELECT fingerprint, ended FROM certificates"))
    assert [name for name in before if before[name] != after[name]] == [fingerprint]


def test_what_cannot_be_revoked_says_so(office: IdentityDesk) -> None:
    with pytest.raises(IdentityError, match="ever issued to a unit UF-9"):
        office.registry.revoke("UF-9", "Why not.")
    office.enrol()
    office.registry.revoke(UNIT, "Lost.")
    with pytest.raises(IdentityError, match="has no certificate that counts"):
        office.registry.revoke(UNIT, "Lost again.")


def test_an_old_certificate_is_retired_only_once_the_new_one_is_in_use(
    office: IdentityDesk,
) -> None:
    registry = office.registry
    old = office.enrol()
    with pytest.raises(IdentityError, match="no older certificate"):
        registry.retire(UNIT)
    office.now_ms += 1000
    new = office.enrol()
    assert registry.why_refused(old, UNIT) == registry.why_refused(new, UNIT) == ""
    with pytest.raises(IdentityError, match="would take the table off the floor"):
        registry.retire(UNIT)
    registry.note_use(new)
    assert [each.fingerprint for each in registry.retire(UNIT)] == [old]
    assert "was replaced by" in registry.why_refused(old, UNIT)
    assert registry.why_refused(new, UNIT) == ""


def test_a_certificate_in_use_is_written_down_once(office: IdentityDesk) -> None:
    fingerprint = office.enrol()
    for _ in range(3):
        office.now_ms += 1
        office.registry.note_use(fingerprint)
    assert len(office.notes("IDENTITY")) == 1


def test_another_process_sees_the_change_and_the_log_cannot_be_edited(office: IdentityDesk) -> None:
    other = IdentityStore(str(office.folder.database), lambda: 0)
    assert not other.changed_elsewhere()
    office.enrol()
    assert other.changed_elsewhere()
    assert not other.changed_elsewhere()
    with pytest.raises(IdentityError, match="append-only"):
        other.execute("UPDATE log SET sentence = 'Nothing happened.'")
    with pytest.raises(IdentityError, match="append-only"):
        other.execute("DELETE FROM log")
    other.close()


def test_a_file_that_is_no_list_of_identities_is_refused(office: IdentityDesk) -> None:
    path = office.folder.path / "other.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(IdentityError, match="cannot be used"):
        IdentityStore(str(path), lambda: 0)
