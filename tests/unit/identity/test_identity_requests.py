"""From a request to a certificate: six digits, one person, no second claimant."""

from __future__ import annotations

import pytest

from manager.identity.desk import REQUEST_VALID_MS, WRONG_MATCHES_MAX
from manager.identity.errors import IdentityError
from manager.identity.folder import write_private
from protocol.enrolment import match_number
from tests.unit.identity.identity_desk import TABLE, UNIT, IdentityDesk


def test_a_request_waits_until_the_digits_of_the_unit_are_typed(office: IdentityDesk) -> None:
    request = office.request(office.desk.codes.make(TABLE))
    pending = office.desk.receive(request, office.table_of_unit)
    at_the_unit = match_number(pending.nonce, office.folder.ca_der(), request.content())
    assert pending.match == at_the_unit
    assert [each.unit_id for each in office.desk.waiting()] == [UNIT]
    fingerprint = office.desk.approve(UNIT, f"{at_the_unit[:3]} {at_the_unit[3:]}")
    certificate = office.registry.find(fingerprint)
    assert certificate is not None
    assert certificate.counts
    assert office.registry.seal_keys() == [(UNIT, request.seal_key)]
    assert office.desk.look(pending.number).certificate
    assert office.desk.waiting() == []


def test_the_digits_depend_on_a_number_the_asker_cannot_choose(office: IdentityDesk) -> None:
    """Nobody can search for a request of their own that shows another unit's digits."""
    request = office.request(office.desk.codes.make(TABLE))
    content, ca = request.content(), office.folder.ca_der()
    digits = {match_number(bytes([n]) * 16, ca, content) for n in range(50)}
    assert len(digits) > 45
    assert all(len(each) == 6 and each.isdigit() for each in digits)


def test_wrong_digits_are_noted_and_after_a_few_the_request_is_refused(
    office: IdentityDesk,
) -> None:
    request = office.request(office.desk.codes.make(TABLE))
    pending = office.desk.receive(request, office.table_of_unit)
    wrong = f"{(int(pending.match) + 1) % 1_000_000:06d}"
    for _ in range(WRONG_MATCHES_MAX):
        with pytest.raises(IdentityError, match="not the digits"):
            office.desk.approve(UNIT, wrong)
    with pytest.raises(IdentityError, match="No request"):
        office.desk.approve(UNIT, pending.match)
    assert office.desk.look(pending.number).denied == "The digits did not match."
    assert len(office.notes("ENROLMENT_REFUSED")) == WRONG_MATCHES_MAX + 1


def test_two_who_claim_one_name_are_both_held_back(office: IdentityDesk) -> None:
    first = office.desk.receive(office.request(office.desk.codes.make(TABLE)), office.table_of_unit)
    office.desk.receive(office.request(office.desk.codes.make(TABLE)), office.table_of_unit)
    with pytest.raises(IdentityError, match="2 requests claim to be unit"):
        office.desk.approve(UNIT, first.match)
    office.desk.deny(UNIT)
    assert office.desk.waiting() == []


def test_nobody_waits_for_ever(office: IdentityDesk) -> None:
    request = office.request(office.desk.codes.make(TABLE))
    pending = office.desk.receive(request, office.table_of_unit)
    office.now_ms += REQUEST_VALID_MS + 1
    assert office.desk.look(pending.number).denied == "Nobody approved the request in time."
    with pytest.raises(IdentityError, match="No request"):
        office.desk.approve(UNIT, pending.match)


def test_a_bad_signing_request_does_not_use_up_the_code(office: IdentityDesk) -> None:
    code = office.desk.codes.make(TABLE)
    good = office.request(code)
    bad = type(good)(UNIT, code, b"nothing", good.seal_key)
    with pytest.raises(IdentityError, match="cannot be read"):
        office.desk.receive(bad, office.table_of_unit)
    assert office.desk.receive(good, office.table_of_unit).waits


def test_a_unit_of_another_table_is_refused_and_counted(office: IdentityDesk) -> None:
    request = office.request(office.desk.codes.make(TABLE), "UF-other")
    with pytest.raises(IdentityError, match="which it does not serve"):
        office.desk.receive(request, office.table_of_unit)
    assert office.store.row("SELECT wrong_count FROM codes") == (1,)


def test_the_ca_key_may_be_kept_elsewhere_and_must_be_the_right_one(office: IdentityDesk) -> None:
    away = office.folder.path.parent / "vault.key"
    office.folder.ca_key.rename(away)
    request = office.request(office.desk.codes.make(TABLE))
    pending = office.desk.receive(request, office.table_of_unit)
    with pytest.raises(IdentityError, match="cannot be read"):
        office.desk.approve(UNIT, pending.match)
    foreign = office.folder.path.parent / "foreign.key"
    write_private(foreign, office.folder.manager_key.read_bytes())
    with pytest.raises(IdentityError, match="is not the key of this floor's CA"):
        office.desk.approve(UNIT, pending.match, foreign)
    assert office.desk.approve(UNIT, pending.match, away)


def test_keys_that_others_can_read_are_refused(office: IdentityDesk) -> None:
    office.folder.ca_key.chmod(0o640)
    with pytest.raises(IdentityError, match="must be mode 600"):
        office.folder.load_issuer()
    office.folder.manager_key.chmod(0o644)
    with pytest.raises(IdentityError, match="must be mode 600"):
        office.folder.ensure()


def test_the_folder_and_its_keys_are_private_and_made_once(office: IdentityDesk) -> None:
    before = office.folder.ca_fingerprint()
    office.folder.ensure()
    assert office.folder.ca_fingerprint() == before
    assert office.folder.path.stat().st_mode & 0o777 == 0o700
    for path in (office.folder.ca_key, office.folder.manager_key):
        assert path.stat().st_mode & 0o777 == 0o600
