"""How jackpots stand and which wins were taken back, told again from the chain alone."""

from __future__ import annotations

from typing import Any

import pytest

from manager.audit.audit import image_after
from manager.audit.earlier import EarlierDays
from manager.audit.terms import TermsAudit
from manager.ledger.corrections.reasons import StopReason
from manager.ledger.corrections.replacement import record_instead
from manager.ledger.corrections.term_changes import change_terms, close, resume, set_limit, suspend
from manager.ledger.store.chain import Recorded
from tests.kit.pretend_books import CENT, HOUSE, LEVELS, TERMS, TWO, Books, document, game

STOP = StopReason.HOUSE_DECISION


@pytest.fixture
def played(books: Books) -> Books:
    """Changed terms that a win brought; the win was taken back, and is recorded again."""
    books.open(document(jackpots={"main": TERMS}))
    book = books.manager.book
    change_terms(book, "main", {"seed_cents": 300}, TWO)
    books.start("touch-1", 1, "1A", "5A")
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.reverse()
    return books


def all_of(books: Books) -> list[Recorded]:
    return [recorded for recorded, _ in books.store.recorded()]


def troubles(books: Books, told: list[Recorded] | None = None) -> list[str]:
    """What an audit of these says, by default of the whole ledger; empty when it agrees."""
    audit = TermsAudit()
    found = [audit.take(recorded) for recorded in told or all_of(books)]
    return [each for each in [*found, audit.problem(books.store)] if each]


def without(books: Books, kind: str) -> list[Recorded]:
    return [each for each in all_of(books) if each.kind != kind]


def test_every_act_is_told_again_as_it_stands(played: Books) -> None:
    """Catches: sound books that an audit calls forged after somebody changed the terms."""
    book = played.manager.book
    assert troubles(played) == []
    record_instead(book, 1, TWO)
    assert troubles(played) == []
    set_limit(book, "main", 900_000, TWO)
    change_terms(book, "main", {"contribution_ppm": 1}, TWO)
    assert troubles(played) == []
    suspend(book, "main", STOP, TWO)
    assert troubles(played) == []
    resume(book, "main", TWO)
    assert troubles(played) == []
    heir = document("t2", jackpots={"heir": TERMS}, games={"A": game(top="heir")})
    played.open(heir, "t2")
    suspend(book, "main", STOP, TWO)
    close(book, "main", "heir", TWO)
    assert troubles(played) == []


def test_a_posted_prize_that_changed_at_once_is_in_force(books: Books) -> None:
    books.open(document(jackpots={"main": HOUSE}))
    change_terms(books.manager.book, "main", {"seed_cents": 200_000}, TWO)
    assert troubles(books) == []


@pytest.mark.parametrize("order", [(3, 2), (2, 3)])
def test_terms_that_two_wins_brought_are_given_back_in_any_order(
    played: Books, order: tuple[int, int]
) -> None:
    """Catches: terms that a reversed win brought, and that an audit leaves in force."""
    book = played.manager.book
    record_instead(book, 1, TWO)
    change_terms(book, "main", {"seed_cents": 400}, TWO)
    played.start("touch-1", 2, "5A")
    played.paid(2, 2, _5A="four-aces")
    assert troubles(played) == []
    for number in order:
        played.reverse(number)
        assert troubles(played) == []


def test_what_a_reversal_had_to_shift_belongs_to_it(books: Books) -> None:
    """Catches: a sound reversal called forged because the next winner had drawn on the reseed."""
    books.open(document(jackpots={"main": TERMS | {"contribution_ppm": 0, "reserve_ppm": 500_000}}))
    for number, sensors in ((1, ("1A", "2A", "5A")), (2, ("5A",))):
        books.start("touch-1", number, *sensors)
        books.paid(number, number, _5A="four-aces")
        books.end("touch-1", number)
    books.reverse(1)
    (reversal,) = [each for each in all_of(books) if each.kind == "REVERSAL"]
    assert '"shifted":{"meter' in reversal.detail_text
    assert troubles(books) == []


def test_what_the_house_gives_to_a_reversal_belongs_to_it(books: Books) -> None:
    """Catches: a sound reversal called forged where the whole meter was not enough for it."""
    terms = TERMS | {"opening": "10.00", "contribution_ppm": 0, "reserve_ppm": 0}
    played = {"A": game(LEVELS.id, mega="main", minor="low")}
    books.open(document(jackpots={"main": terms, "low": TERMS}, games=played))
    for number, hand in ((1, "mega"), (2, "tenth")):
        books.start("touch-1", number, "5A")
        books.paid(number, number, _5A=hand)
        books.end("touch-1", number)
    books.reverse(1)
    (reversal,) = [each for each in all_of(books) if each.kind == "REVERSAL"]
    assert dict(reversal.postings)["house/shortfall"] == -9_000 * CENT
    assert troubles(books) == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("REVERSAL", "The list of reversed wins does not agree"),
        ("TERMS_CHANGED", "brings terms that nobody announced"),
        ("LIMIT_SET", "How jackpot main stands does not agree"),
        ("SUSPENDED", "How jackpot main stands does not agree"),
    ],
)
def test_an_act_that_is_not_in_the_chain_is_missed(played: Books, kind: str, words: str) -> None:
    """Catches: a limit, a stop or a reversal that somebody wrote into the tables alone."""
    set_limit(played.manager.book, "main", 900_000, TWO)
    suspend(played.manager.book, "main", STOP, TWO)
    assert any(words in each for each in troubles(played, without(played, kind)))


def test_a_win_is_taken_back_once(played: Books) -> None:
    told = all_of(played)
    (reversal,) = [each for each in told if each.kind == "REVERSAL"]
    assert "reverses win 1 a second time" in troubles(played, [*told, reversal])


def changed(told: list[Recorded], kind: str, **values: Any) -> list[Recorded]:
    return [each._replace(**values) if each.kind == kind else each for each in told]


def test_a_reversal_undoes_what_its_win_moved_and_nothing_else(played: Books) -> None:
    """Catches: a reversal with which somebody helped himself."""
    told = all_of(played)
    (reversal,) = [each for each in told if each.kind == "REVERSAL"]
    (account, amount), *rest = reversal.postings
    forged = ((account, amount + 1), *rest)
    words = "does not undo what win 1 moved"
    assert words in troubles(played, changed(told, "REVERSAL", postings=forged))
    assert words in troubles(played, without(played, "RESEED"))


def test_an_audit_goes_on_from_a_closed_day_with_what_came_before(books: Books) -> None:
    """Catches: a win of yesterday that is taken back today, and its terms, called forged."""
    books.open(document(jackpots={"main": TERMS}))
    for number in (1, 2):
        books.start("touch-1", number, "1A", "5A")
        books.paid(number, number, _5A="four-aces")
        books.end("touch-1", number)
        if number == 1:  # it comes with the second win
            change_terms(books.manager.book, "main", {"seed_cents": 300}, TWO)
    books.reverse(1)
    last = books.store.tail().number
    image = image_after(books.store, last)
    books.reverse(2)
    audit = TermsAudit(image, EarlierDays(books.store, last))
    assert {audit.take(each) for each, _ in books.store.recorded(last + 1)} == {""}
    assert audit.problem(books.store) == ""
