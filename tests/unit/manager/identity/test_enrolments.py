"""Who may ask for a certificate: a unit with a name of a unit's kind, at the table of its code."""

from __future__ import annotations

import dataclasses

import pytest

from manager.identity.enrolments import REQUEST_VALID_MS
from manager.identity.errors import IdentityError
from tests.kit.identity_store import TABLE, UNIT, PretendIdentities


@pytest.mark.parametrize("unit_id", ["UF 1", "../UF-1", "UF-1é"])
def test_a_name_that_no_unit_can_have_is_refused_whatever_table_it_serves(
    identities: PretendIdentities, unit_id: str
) -> None:
    """Catches: a certificate for a name that reads like another unit's, or like a path."""
    code = identities.enrolments.codes.make(TABLE)
    asked = dataclasses.replace(identities.request(code), unit_id=unit_id)
    with pytest.raises(IdentityError, match="A unit cannot be called"):
        identities.enrolments.receive(asked, lambda _: TABLE)
    assert identities.enrolments.waiting() == []


def test_a_code_is_for_the_table_that_it_was_made_for(identities: PretendIdentities) -> None:
    """Catches: a unit that gets a certificate for another table with a code it overheard."""
    code = identities.enrolments.codes.make("other")
    with pytest.raises(IdentityError):
        identities.enrolments.receive(identities.request(code), identities.table_of_unit)
    assert identities.enrolments.waiting() == []


def test_the_same_request_again_is_the_same_one(identities: PretendIdentities) -> None:
    request = identities.request(identities.enrolments.codes.make(TABLE))
    first = identities.enrolments.receive(request, identities.table_of_unit)
    assert identities.enrolments.receive(request, identities.table_of_unit) == first
    assert identities.enrolments.waiting() == [first]


@pytest.mark.parametrize(("waited_ms", "waits"), [(0, True), (1, False)])
def test_a_request_that_nobody_approved_in_time_is_denied(
    identities: PretendIdentities, waited_ms: int, waits: bool
) -> None:
    """Catches: a request of last year that somebody approves by mistake."""
    request = identities.request(identities.enrolments.codes.make(TABLE))
    pending = identities.enrolments.receive(request, identities.table_of_unit)
    identities.now_ms = pending.received_ms + REQUEST_VALID_MS + waited_ms
    assert identities.enrolments.look(pending.number).waits is waits


def test_a_request_is_granted_for_the_digits_that_its_unit_shows(
    identities: PretendIdentities,
) -> None:
    """Catches: a certificate given to whoever asked first under a unit's name."""
    request = identities.request(identities.enrolments.codes.make(TABLE))
    pending = identities.enrolments.receive(request, identities.table_of_unit)
    wrong = f"{(int(pending.match) + 1) % 1_000_000:06}"
    with pytest.raises(IdentityError):
        identities.approve(UNIT, wrong)
    assert identities.approve(UNIT, f"{pending.match[:3]} {pending.match[3:]}")
    assert identities.enrolments.waiting() == []


def test_an_operator_may_deny_what_waits_and_nothing_else(identities: PretendIdentities) -> None:
    request = identities.request(identities.enrolments.codes.make(TABLE))
    pending = identities.enrolments.receive(request, identities.table_of_unit)
    with pytest.raises(IdentityError, match="No request of a unit UF-other waits"):
        identities.enrolments.deny("UF-other")
    identities.enrolments.deny(UNIT)
    assert not identities.enrolments.look(pending.number).waits
    with pytest.raises(IdentityError, match="There is no request 99"):
        identities.enrolments.look(99)
