"""A win that waits is booked by two people or sent back, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from manager.intake.approvals import carry_out, concerns_a_claim, is_approval
from manager.ledger.claims import ClaimState
from manager.ledger.corrections.reasons import Signed
from manager.ledger.errors import LedgerError
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Committed, Error
from tests.kit.pretend_books import Books, document
from tests.kit.pretend_units import PretendUnit, only

TABLE, BIG = "touch-1", "four-aces"
AUTHORITY = {"dealer_limit": "25.00", "executive_percent": 100, "executive_from": "5000.00"}


@pytest.fixture
def waiting(books: Books) -> Books:
    """The whole meter was won, and a card was swiped: from 1000.00 on two people must agree."""
    books.open(document(authority=AUTHORITY | {"confirm_from": "1000.00"}))
    books.start(TABLE, 1, "1A", "2A")
    claimed(books, 1, s1A=BIG)
    return books


def claimed(books: Books, number: int, **hands: Any) -> None:
    books.receive_award(TABLE, books.claim(TABLE, 1, number, **hands))
    assert only(books.by_card(TABLE, 1, number), Error).code == ErrorCode.APPROVAL


def decide(books: Books, command: str, claim: str = "1", **words: str) -> str:
    people = {"operator": "Pat", "second": "Kim"} | words
    request = {"command": command, "table": TABLE, "claim": claim, **people}
    return carry_out(books.manager.book, request)


def test_two_people_book_the_win_as_its_table_recorded_it(waiting: Books) -> None:
    """Catches: an approved win without both names in the chain, or one booked twice."""
    done = decide(waiting, "approve-win")
    assert done == "Claim 1 of table touch-1 is approved; it is win 1."
    (win,) = waiting.manager.book.wins.of_round(TABLE, 1)
    assert (win.claim_number, win.lines[0].amount_cents) == (1, 100_050)
    (approved,) = [each for each in waiting.about_money() if each.kind == "CLAIM_APPROVED"]
    assert "Pat" in approved.detail_text
    assert "Kim" in approved.detail_text
    assert '"UF-touch-1 ' in approved.detail_text, "where the table's own commit stands"
    (answer,) = waiting.manager.intake.pending_answers(TABLE)
    assert isinstance(answer, Committed)
    with pytest.raises(LedgerError, match="waits for no approval"):
        decide(waiting, "approve-win")


@pytest.mark.parametrize("command", ["approve-win", "refuse-win"])
def test_one_person_decides_nothing(waiting: Books, command: str) -> None:
    """Catches: one operator who pays, or takes away, a jackpot alone."""
    with pytest.raises(LedgerError, match="second person"):
        decide(waiting, command, second="")
    assert waiting.manager.book.wins.of_round(TABLE, 1) == []
    decide(waiting, "approve-win")


def test_a_refused_win_goes_back_to_its_table_where_it_can_be_swiped_again(waiting: Books) -> None:
    """Catches: a refused win that is paid all the same, or of which the table hears nothing."""
    assert decide(waiting, "refuse-win") == "Claim 1 of table touch-1 is refused."
    (answer,) = waiting.manager.intake.pending_answers(TABLE)
    assert isinstance(answer, Error)
    assert answer.code == ErrorCode.CARD_REFUSED
    assert answer.sentence == "Claim 1 was refused at the manager by Pat and Kim."
    assert waiting.alarm_codes()[-1] == "APPROVAL"
    assert waiting.manager.book.alarms.newest(1)[0].sentence == answer.sentence
    with pytest.raises(LedgerError, match="waits for no approval"):
        decide(waiting, "approve-win")
    assert only(waiting.by_card(TABLE, 1, 1), Error).code == ErrorCode.APPROVAL
    assert "is win 1" in decide(waiting, "approve-win")


def test_each_claim_is_approved_by_its_own_commit(waiting: Books) -> None:
    """Catches: a win booked with the card that was swiped for another one."""
    claimed(waiting, 2, s2A=BIG)
    assert "is win 1" in decide(waiting, "approve-win", "2")
    assert waiting.manager.book.wins.of_round(TABLE, 1)[0].lines[0].sensor == "2A"


def test_what_was_withdrawn_meanwhile_is_not_paid(waiting: Books) -> None:
    book = waiting.manager.book
    claim = book.claims.get(TABLE, 1)
    book.claims.save(replace(claim, state=ClaimState.CANCELLED))
    with pytest.raises(LedgerError, match="Claim 1 of table touch-1 is cancelled"):
        decide(waiting, "approve-win")


@pytest.mark.parametrize("claim", ["", "-1", "1.0", "٣", "1234567890123"])
def test_a_claim_that_is_no_number_is_said(waiting: Books, claim: str) -> None:
    with pytest.raises(LedgerError, match="is not a whole number"):
        decide(waiting, "approve-win", claim)


@pytest.mark.parametrize("claim", ["9", "123456789012"])
def test_a_claim_that_nobody_made_waits_for_nothing(waiting: Books, claim: str) -> None:
    with pytest.raises(LedgerError, match="waits for no approval"):
        decide(waiting, "approve-win", claim)


def test_a_claim_that_nobody_authorised_waits_for_nothing(books: Books) -> None:
    """Catches: a win that two people at the manager pay before anybody stood at the table."""
    books.open(document())
    books.start(TABLE, 1, "1A")
    books.quoted(_1A=BIG)
    with pytest.raises(LedgerError, match="waits for no approval"):
        decide(books, "approve-win")


def test_what_is_logged_under_the_key_stands(books: Books) -> None:
    books.open(document(workflow="keypad", authority=AUTHORITY))
    books.start(TABLE, 1, "1A")
    books.receive_award(TABLE, books.claim(TABLE, 1, 1, True, s1A=BIG))
    assert only(books.by_key(TABLE, 1, 1), Error).code == ErrorCode.APPROVAL
    with pytest.raises(LedgerError, match="logged under the key and stands"):
        decide(books, "refuse-win")
    assert "is win 1" in decide(books, "approve-win")


def test_any_other_request_is_a_correction(waiting: Books) -> None:
    decide(waiting, "approve-win")
    people = {"operator": "Pat", "second": "Kim"}
    request = {"command": "reverse-win", "win": "1", "reason": "not-won"} | people
    carry_out(waiting.manager.book, request)
    assert waiting.manager.book.wins.reversed_numbers(TABLE, 1) == {1}


def test_a_table_hears_of_what_became_of_its_claim_and_of_nothing_else() -> None:
    told = {"approve-win": True, "refuse-win": True, "back-out": True, "adjust": False}
    assert {name: concerns_a_claim({"command": name}) for name in told} == told
    assert not is_approval({"command": "back-out"})


def test_a_commit_of_another_claim_books_nothing(waiting: Books) -> None:
    """Catches: a win that is paid by a record that is not its own."""
    claimed(waiting, 2, s2A=BIG)
    claims = waiting.manager.book.claims
    first, second = claims.get(TABLE, 1), claims.get(TABLE, 2)
    claims.save(replace(first, refusal=second.refusal))
    with pytest.raises(LedgerError, match="The commit of claim 1 is not in the ledger"):
        decide(waiting, "approve-win")
    assert waiting.manager.book.wins.of_round(TABLE, 1) == []


def test_a_win_of_the_unit_before_is_approved_by_that_units_commit(waiting: Books) -> None:
    """Catches: a win that nobody can approve any more once its unit was replaced."""
    units = waiting.manager.units
    units.permit_new_journal("UF-9", TABLE, Signed("Ann"), "another unit")
    units.greet(PretendUnit("UF-9", b"another-journal!").hello())
    assert "is win 1" in decide(waiting, "approve-win")
