"""Whose card, key or word is enough for a claim, one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from manager.ledger.awards.authority import authorise, key_name
from manager.ledger.claims import LOGGED_BY_UNIT
from manager.ledger.errors import BookingRefused
from manager.ledger.swipes import SwipedCard
from manager.ledger.wins import Authorisation
from protocol.numbers import (
    METHOD_CARD,
    METHOD_DEALER,
    METHOD_KEY,
    ROLE_DEALER,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
)
from protocol.wire.errors import ErrorCode
from protocol.wire.events import Commit

KIM = SwipedCard("Kim", ROLE_SUPERVISOR)
PAT = SwipedCard("Pat", ROLE_EXECUTIVE)


def judged(
    method: int,
    needs: int,
    card: SwipedCard | None = None,
    says: int | None = None,
    total_cents: int = 100,
    confirm_from_cents: int = 0,
    is_approved: bool = False,
    workflow: str = "touch",
    logged_by: str = "",
    key_role: int = ROLE_SUPERVISOR,
) -> Authorisation:
    authority = SimpleNamespace(confirm_from_cents=confirm_from_cents, key_role=key_role)
    rules = SimpleNamespace(authority=authority, settings=SimpleNamespace(workflow=workflow))
    claim = SimpleNamespace(number=4, role=needs, total_cents=total_cents, logged_by=logged_by)
    role = says if says is not None else card.role if card else ROLE_DEALER
    ticket = bytes(16) if method == METHOD_CARD else b""
    commit = Commit(1, 4, method, ticket, role)
    return authorise(cast(Any, rules), cast(Any, claim), commit, card, is_approved)


def refused(*judging: Any, **more: Any) -> tuple[ErrorCode, str]:
    with pytest.raises(BookingRefused) as caught:
        judged(*judging, **more)
    return caught.value.code, caught.value.sentence


def test_a_dealers_word_is_enough_for_what_needs_no_more() -> None:
    given = Authorisation(METHOD_DEALER, "Dealer", ROLE_DEALER)
    assert judged(METHOD_DEALER, ROLE_DEALER) == given
    for needs, name in ((ROLE_SUPERVISOR, "SUPERVISOR"), (ROLE_EXECUTIVE, "EXECUTIVE")):
        code, sentence = refused(METHOD_DEALER, needs)
        assert (code, sentence) == (ErrorCode.CARD_REFUSED, f"Claim 4 needs {name} authority.")


@pytest.mark.parametrize("card", [KIM, PAT])
@pytest.mark.parametrize("needs", [ROLE_DEALER, ROLE_SUPERVISOR, ROLE_EXECUTIVE])
def test_a_card_is_enough_for_its_own_role_and_those_below(card: SwipedCard, needs: int) -> None:
    if card.role >= needs:
        given = Authorisation(METHOD_CARD, card.label, card.role)
        assert judged(METHOD_CARD, needs, card) == given
    else:
        assert refused(METHOD_CARD, needs, card) == (
            ErrorCode.CARD_REFUSED,
            "Claim 4 needs EXECUTIVE authority.",
        )


def test_without_a_card_or_with_another_role_than_it_has_nothing_is_booked() -> None:
    """Catches: a unit that says which role somebody had."""
    said = refused(METHOD_CARD, ROLE_DEALER, says=ROLE_EXECUTIVE)
    assert said == (ErrorCode.CARD_REFUSED, "No card was swiped for claim 4.")
    for card, says in ((KIM, ROLE_EXECUTIVE), (PAT, ROLE_SUPERVISOR)):
        said = refused(METHOD_CARD, ROLE_SUPERVISOR, card, says=says)
        assert said[1] == f"The unit reports another role than {card.label} has."


@pytest.mark.parametrize(("workflow", "logged_by"), [("touch", LOGGED_BY_UNIT), ("keypad", "")])
def test_a_key_counts_only_for_what_a_keypad_table_has_logged(
    workflow: str, logged_by: str
) -> None:
    said = refused(METHOD_KEY, ROLE_DEALER, workflow=workflow, logged_by=logged_by)
    assert said[1] == "Only a win logged on a keypad table can be authorised by key."


def test_a_key_stands_for_the_role_that_the_table_gives_it() -> None:
    at_keypad: dict[str, Any] = {"workflow": "keypad", "logged_by": LOGGED_BY_UNIT}
    given = judged(METHOD_KEY, ROLE_SUPERVISOR, **at_keypad)
    assert given == Authorisation(METHOD_KEY, "Supervisor key", ROLE_SUPERVISOR)
    code, sentence = refused(METHOD_KEY, ROLE_EXECUTIVE, **at_keypad)
    assert (code, "needs EXECUTIVE authority: two people" in sentence) == (ErrorCode.APPROVAL, True)
    approved = judged(METHOD_KEY, ROLE_EXECUTIVE, is_approved=True, **at_keypad)
    assert approved.role == ROLE_SUPERVISOR
    of_executive = judged(METHOD_KEY, ROLE_EXECUTIVE, key_role=ROLE_EXECUTIVE, **at_keypad)
    assert of_executive.authorised_by == "Executive key"


@pytest.mark.parametrize(
    ("total_cents", "confirm_from_cents", "waits"),
    [
        (99_999, 100_000, False),
        (100_000, 100_000, True),
        (100_001, 100_000, True),
        (10**9, 0, False),
    ],
)
def test_a_large_win_waits_for_two_people_whoever_swiped(
    total_cents: int, confirm_from_cents: int, waits: bool
) -> None:
    """Catches: a jackpot that one card pays, or a small win that waits for the office."""
    win: dict[str, Any] = {"total_cents": total_cents, "confirm_from_cents": confirm_from_cents}
    if waits:
        code, sentence = refused(METHOD_CARD, ROLE_EXECUTIVE, PAT, **win)
        assert (code, "needs a second confirmation" in sentence) == (ErrorCode.APPROVAL, True)
    else:
        assert judged(METHOD_CARD, ROLE_EXECUTIVE, PAT, **win).role == ROLE_EXECUTIVE
    approved = judged(METHOD_CARD, ROLE_EXECUTIVE, PAT, is_approved=True, **win)
    assert approved == Authorisation(METHOD_CARD, "Pat", ROLE_EXECUTIVE)


def test_two_people_at_the_manager_make_no_card_of_none() -> None:
    assert refused(METHOD_CARD, ROLE_DEALER, is_approved=True)[0] == ErrorCode.CARD_REFUSED
    assert refused(METHOD_DEALER, ROLE_SUPERVISOR, is_approved=True)[0] == ErrorCode.CARD_REFUSED


def test_a_key_is_called_by_its_role() -> None:
    rules = SimpleNamespace(authority=SimpleNamespace(key_role=ROLE_EXECUTIVE))
    assert key_name(cast(Any, rules)) == "Executive key"
