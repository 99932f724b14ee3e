"""From a request to a certificate: six digits, one person, no second claimant."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest

from kit.files import write_private
from manager.identity import certificates, requests
from manager.identity.enrolments import REQUEST_VALID_MS, WRONG_MATCHES_MAX, Enrolments
from manager.identity.errors import IdentityError
from manager.identity.registry import Certificate
from manager.identity.requests import Identities, carry_out
from protocol.wire.enrolment import match_number
from tests.kit.identity_store import TABLE, UNIT, PretendIdentities


def test_a_request_waits_until_the_digits_of_the_unit_are_typed(
    identities: PretendIdentities,
) -> None:
    request = identities.request(identities.enrolments.codes.make(TABLE))
    pending = identities.enrolments.receive(request, identities.table_of_unit)
    at_the_unit = match_number(pending.nonce, identities.folder.ca_der(), request.content())
    assert pending.match == at_the_unit
    assert [each.unit_id for each in identities.enrolments.waiting()] == [UNIT]
    fingerprint = identities.approve(UNIT, f"{at_the_unit[:3]} {at_the_unit[3:]}")
    certificate = identities.registry.find(fingerprint)
    assert certificate is not None
    assert certificate.counts
    assert identities.registry.seal_keys() == [(UNIT, request.seal_key)]
    assert identities.enrolments.look(pending.number).certificate
    assert identities.enrolments.waiting() == []


def test_the_digits_stand_in_no_alarm_and_no_list(identities: PretendIdentities) -> None:
    """Whoever approves must read them at the unit."""
    pending = identities.enrolments.receive(
        identities.request(identities.enrolments.codes.make(TABLE)), identities.table_of_unit
    )
    told = " ".join(note.sentence for note in identities.store.untold())
    asked = Identities(
        identities.enrolments, identities.registry, identities.folder, lambda: [TABLE]
    )
    listed = carry_out(asked, {"command": "waiting"})
    assert UNIT in told
    assert UNIT in listed
    for text in (told, listed):
        digits = re.sub(r"\D", "", text.replace(UNIT, "").replace(TABLE, ""))
        assert pending.match not in digits


def test_the_digits_depend_on_a_number_the_asker_cannot_choose(
    identities: PretendIdentities,
) -> None:
    """Nobody can search for a request of their own that shows another unit's digits."""
    request = identities.request(identities.enrolments.codes.make(TABLE))
    content, ca = request.content(), identities.folder.ca_der()
    digits = {match_number(bytes([n]) * 16, ca, content) for n in range(50)}
    assert len(digits) > 45
    assert all(len(each) == 6 and each.isdigit() for each in digits)
    drawn: list[bytes] = []

    def random_bytes(count: int) -> bytes:
        drawn.append(os.urandom(count))
        return drawn[-1]

    enrolments = Enrolments(identities.store, identities.folder, random_bytes)
    pending = enrolments.receive(request, identities.table_of_unit)
    assert pending.match == match_number(drawn[-1], ca, content), "drawn here, after the request"


def test_wrong_digits_are_noted_and_after_a_few_the_request_is_refused(
    identities: PretendIdentities,
) -> None:
    request = identities.request(identities.enrolments.codes.make(TABLE))
    pending = identities.enrolments.receive(request, identities.table_of_unit)
    wrong = f"{(int(pending.match) + 1) % 1_000_000:06d}"
    for _ in range(WRONG_MATCHES_MAX):
        with pytest.raises(IdentityError, match="not the digits"):
            identities.approve(UNIT, wrong)
    with pytest.raises(IdentityError, match="No request"):
        identities.approve(UNIT, pending.match)
    assert identities.enrolments.look(pending.number).denied == "The digits did not match."
    assert len(identities.notes("ENROLMENT_REFUSED")) == WRONG_MATCHES_MAX + 1


def test_two_who_claim_one_name_are_both_held_back(identities: PretendIdentities) -> None:
    first = identities.enrolments.receive(
        identities.request(identities.enrolments.codes.make(TABLE)), identities.table_of_unit
    )
    identities.enrolments.receive(
        identities.request(identities.enrolments.codes.make(TABLE)), identities.table_of_unit
    )
    with pytest.raises(IdentityError, match="2 requests claim to be unit"):
        identities.approve(UNIT, first.match)
    identities.enrolments.deny(UNIT)
    assert identities.enrolments.waiting() == []


def test_nobody_waits_for_ever(identities: PretendIdentities) -> None:
    request = identities.request(identities.enrolments.codes.make(TABLE))
    pending = identities.enrolments.receive(request, identities.table_of_unit)
    identities.now_ms += REQUEST_VALID_MS
    assert identities.enrolments.look(pending.number).waits
    identities.now_ms += 1
    assert (
        identities.enrolments.look(pending.number).denied == "Nobody approved the request in time."
    )
    with pytest.raises(IdentityError, match="No request"):
        identities.approve(UNIT, pending.match)


def test_a_bad_signing_request_does_not_use_up_the_code(identities: PretendIdentities) -> None:
    code = identities.enrolments.codes.make(TABLE)
    good = identities.request(code)
    bad = type(good)(UNIT, code, b"nothing", good.seal_key)
    with pytest.raises(IdentityError, match="cannot be read"):
        identities.enrolments.receive(bad, identities.table_of_unit)
    assert identities.enrolments.receive(good, identities.table_of_unit).waits


def test_a_unit_of_another_table_is_refused_and_counted(identities: PretendIdentities) -> None:
    request = identities.request(identities.enrolments.codes.make(TABLE), "UF-other")
    with pytest.raises(IdentityError, match="which it does not serve"):
        identities.enrolments.receive(request, identities.table_of_unit)
    assert identities.store.row("SELECT wrong_count FROM codes") == (1,)


def test_the_ca_key_may_be_kept_elsewhere_and_must_be_the_right_one(
    identities: PretendIdentities,
) -> None:
    away = identities.folder.path.parent / "vault.key"
    identities.folder.ca_key.rename(away)
    request = identities.request(identities.enrolments.codes.make(TABLE))
    pending = identities.enrolments.receive(request, identities.table_of_unit)
    with pytest.raises(IdentityError, match="cannot be read"):
        identities.approve(UNIT, pending.match)
    foreign = identities.folder.path.parent / "foreign.key"
    write_private(foreign, identities.folder.manager_key.read_bytes())
    with pytest.raises(IdentityError, match="is not the key of this floor's CA"):
        identities.approve(UNIT, pending.match, foreign)
    assert identities.approve(UNIT, pending.match, away)


def test_keys_that_others_can_read_are_refused(identities: PretendIdentities) -> None:
    identities.folder.ca_key.chmod(0o640)
    with pytest.raises(IdentityError, match="must be mode 600"):
        identities.folder.load_issuer()
    identities.folder.manager_key.chmod(0o644)
    with pytest.raises(IdentityError, match="must be mode 600"):
        identities.folder.ensure()


def test_the_folder_and_its_keys_are_private_and_made_once(identities: PretendIdentities) -> None:
    before = identities.folder.ca_fingerprint()
    identities.folder.ensure()
    assert identities.folder.ca_fingerprint() == before
    assert identities.folder.path.stat().st_mode & 0o777 == 0o700
    for path in (identities.folder.ca_key, identities.folder.manager_key):
        assert path.stat().st_mode & 0o777 == 0o600


def test_only_a_certificate_for_this_unit_and_its_key_is_granted(
    identities: PretendIdentities,
) -> None:
    """Catches: a manager that hands out whatever it is brought."""
    pending = identities.enrolments.receive(
        identities.request(identities.enrolments.codes.make(TABLE)), identities.table_of_unit
    )
    another = identities.request("", UNIT).signing_request
    wrong = {
        "not one of this floor's CA": [b"nothing", stranger_s_certificate(another)],
        "not the one that unit": [identities.folder.issue(UNIT, another)],
    }
    for sentence, brought in wrong.items():
        for certificate in brought:
            with pytest.raises(IdentityError, match=sentence):
                identities.enrolments.grant(UNIT, pending.match, certificate)
    assert identities.enrolments.look(pending.number).waits


def stranger_s_certificate(signing_request: bytes) -> bytes:
    key = certificates.new_key()
    public_key = certificates.read_request(signing_request, UNIT)
    return certificates.der(
        certificates.issue_unit(certificates.make_ca(key), key, UNIT, public_key)
    )


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"command": "grant", "unit": UNIT, "match": "123456"}, "needs certificate"),
        ({"command": "grant", "unit": UNIT, "certificate": "AAAA"}, "needs match"),
        ({"command": "grant", "match": "123456", "certificate": "AAAA"}, "needs unit"),
        ({"command": "revoke", "unit": UNIT, "reason": " "}, "needs reason"),
        ({"command": "refuse-unit", "unit": ""}, "needs unit"),
        ({"command": "retire"}, "needs unit"),
        ({"command": "enrol-code", "table": "t9"}, f"serves no table t9; there are {TABLE}"),
    ],
)
def test_a_request_that_lacks_something_says_what(
    identities: PretendIdentities, request_: dict[str, str], sentence: str
) -> None:
    asked = Identities(
        identities.enrolments, identities.registry, identities.folder, lambda: [TABLE]
    )
    with pytest.raises(IdentityError, match=sentence):
        carry_out(asked, request_)


@pytest.mark.parametrize("certificate", ["!!!!", "AA*A", "AAA", "A A A A"])
def test_a_certificate_that_is_no_base64_is_not_guessed_at(
    identities: PretendIdentities, certificate: str
) -> None:
    """Catches: characters that do not belong there left out, and the rest taken for one."""
    pending = identities.enrolments.receive(
        identities.request(identities.enrolments.codes.make(TABLE)), identities.table_of_unit
    )
    asked = Identities(
        identities.enrolments, identities.registry, identities.folder, lambda: [TABLE]
    )
    request = {"command": "grant", "unit": UNIT, "match": pending.match}
    with pytest.raises(IdentityError, match="The certificate cannot be read"):
        carry_out(asked, request | {"certificate": certificate})


def test_the_list_names_each_unit_before_its_certificates(identities: PretendIdentities) -> None:
    """Catches: certificates of which nobody can tell the unit."""
    fingerprint = identities.enrol()
    asked = Identities(
        identities.enrolments, identities.registry, identities.folder, lambda: [TABLE]
    )
    lines = carry_out(asked, {"command": "units"}).splitlines()
    assert fingerprint in lines[lines.index(UNIT) + 1]


def test_the_list_of_units_says_when_a_certificate_was_issued_and_ended() -> None:
    """Catches: a moment that is off, by which somebody looks for who was let in."""
    moment_ms = 1_700_000_000_000
    assert requests._day(moment_ms) == "2023-11-14 22:13"
    issued = Certificate("ab" * 32, UNIT, moment_ms, 0, 0, "")
    assert requests._standing(issued) == "issued 2023-11-14 22:13, not used yet"
    used = replace(issued, first_used_ms=moment_ms)
    assert requests._standing(used) == "issued 2023-11-14 22:13, in use"
    ended = replace(used, ended_ms=moment_ms + 60_000, ended="Stolen.")
    assert requests._standing(ended) == "issued 2023-11-14 22:13, ended 2023-11-14 22:14: Stolen."
