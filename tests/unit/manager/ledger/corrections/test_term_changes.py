"""Who may change a jackpot's terms, when, and what is written down and told of it."""

from __future__ import annotations

from typing import Any

import pytest

from manager.ledger.corrections.reasons import Signed, StopReason
from manager.ledger.corrections.term_changes import change_terms, close, resume, set_limit, suspend
from manager.ledger.errors import LedgerError
from tests.kit.pretend_books import CENT, HOUSE, LEVELS, TERMS, TWO, Books, document, game

ONE = Signed("Ann")
STOP = StopReason.HOUSE_DECISION


def opened(books: Books, **terms: Any) -> Books:
    books.open(document(jackpots={"main": TERMS | terms}))
    return books


def opened_levels(books: Books) -> Books:
    """One game with two meters, and each takes a part of the wager."""
    jackpots = {"top": TERMS, "low": TERMS}
    books.open(document(jackpots=jackpots, games={"A": game(LEVELS.id, mega="top", minor="low")}))
    return books


def last_sentence(books: Books) -> str:
    *_, last = books.about_money()
    return last.sentence


def test_one_person_may_stop_a_jackpot_and_two_do_everything_else(books: Books) -> None:
    """Catches: an act about players' money that one person can do alone."""
    book = opened(books).manager.book
    suspend(book, "main", STOP, ONE)
    with pytest.raises(LedgerError, match="second person"):
        change_terms(book, "main", {"seed_cents": 300}, ONE)
    with pytest.raises(LedgerError, match="second person"):
        set_limit(book, "main", 200_000, ONE)
    with pytest.raises(LedgerError, match="second person"):
        resume(book, "main", ONE)
    with pytest.raises(LedgerError, match="second person"):
        close(book, "main", "", ONE)


def test_every_stop_and_its_end_is_told_as_an_alarm(books: Books) -> None:
    """Catches: a jackpot that stands still, or goes on, without anybody hearing of it."""
    book = opened(books).manager.book
    suspend(book, "main", STOP, ONE)
    resume(book, "main", TWO)
    suspend(book, "main", STOP, ONE)
    close(book, "main", "", TWO)
    assert books.alarm_codes() == ["SUSPENDED", "RESUMED", "SUSPENDED", "CLOSED"]


def test_a_jackpot_without_players_money_is_closed_without_an_heir(books: Books) -> None:
    book = opened(books).manager.book
    suspend(book, "main", STOP, ONE)
    close(book, "main", "", TWO)
    assert books.meter() == (0, 0, 0)


def test_the_books_say_when_terms_are_in_force(books: Books) -> None:
    change_terms(opened(books).manager.book, "main", {"seed_cents": 300}, TWO)
    assert last_sentence(books).endswith("in force from the next reseed on.")


def test_a_posted_prize_changes_at_once_and_between_games_only(books: Books) -> None:
    """Catches: a prize that changes while players play for it."""
    book = opened(books, **HOUSE).manager.book
    books.start("touch-1", 1, "1A")
    with pytest.raises(LedgerError, match="round is under way"):
        change_terms(book, "main", {"seed_cents": 200_000}, TWO)
    books.end("touch-1", 1)
    change_terms(book, "main", {"seed_cents": 200_000}, TWO)
    assert last_sentence(books).endswith("in force at once.")
    assert books.meter() == (0, 200_000 * CENT, 0)


def test_a_progressive_is_changed_in_the_middle_of_a_game(books: Books) -> None:
    book = opened(books).manager.book
    books.start("touch-1", 1, "1A")
    assert change_terms(book, "main", {"seed_cents": 300}, TWO).seed_cents == 300


def test_terms_do_not_change_while_a_fixed_win_waits(books: Books) -> None:
    """Catches: a promised win that is followed by a seed nobody had announced then."""
    book = opened(books, freeze_claims=True).manager.book
    books.start("touch-1", 1, "5A")
    books.quoted(_5A="four-aces")
    with pytest.raises(LedgerError, match="A fixed win waits"):
        change_terms(book, "main", {"seed_cents": 300}, TWO)


def test_a_limit_is_written_down_with_its_amount(books: Books) -> None:
    book = opened(books).manager.book
    set_limit(book, "main", 100_000, TWO)
    assert last_sentence(books) == "Limit of meter main set to $1,000.00 by Ann and Bob."
    assert book.jackpots.get("main").limit_cents == 100_000
    set_limit(book, "main", 0, TWO)
    assert last_sentence(books) == "Limit of meter main set to none by Ann and Bob."
    with pytest.raises(LedgerError, match=r"not be below what is shown, \$1,000.00"):
        set_limit(book, "main", 99_999, TWO)


def test_all_meters_of_a_game_together_take_the_whole_wager_at_most(books: Books) -> None:
    """Catches: a dollar bet of which more than a dollar goes to the meters."""
    book = opened_levels(books).manager.book  # each takes 250,000 and 50,000 of a million
    with pytest.raises(LedgerError, match="more than the whole wager"):
        change_terms(book, "top", {"contribution_ppm": 650_001}, TWO)
    change_terms(book, "top", {"contribution_ppm": 650_000}, TWO)
    with pytest.raises(LedgerError, match="more than the whole wager"):
        change_terms(book, "low", {"reserve_ppm": 50_001}, TWO)


@pytest.mark.parametrize("name", ["contribution_ppm", "reserve_ppm"])
def test_terms_that_wait_and_terms_in_force_both_count(books: Books, name: str) -> None:
    """Catches: two announced changes that fit alone, and not with what is in force."""
    book = opened_levels(books).manager.book
    change_terms(book, "top", {name: 0}, TWO)
    with pytest.raises(LedgerError, match="more than the whole wager"):
        change_terms(book, "low", {"contribution_ppm": 650_001}, TWO)
    change_terms(book, "low", {"contribution_ppm": 650_000}, TWO)


def test_a_game_at_another_table_does_not_hinder_what_is_not_its_jackpot(books: Books) -> None:
    book = opened(books, **HOUSE).manager.book
    other = document("t2", jackpots={"other": TERMS}, games={"A": game(top="other")})
    books.open(other, "t2")
    books.start("t2", 1, "1A")
    change_terms(book, "main", {"seed_cents": 200_000}, TWO)
    books.receive_award("t2", books.claim("t2", 1, 1, s1A="four-aces"))
    change_terms(book, "main", {"seed_cents": 300_000}, TWO)
    assert books.meter() == (0, 300_000 * CENT, 0)


def test_a_claim_that_is_not_settled_keeps_its_jackpot_open(books: Books) -> None:
    """Catches: a jackpot closed with a win still to be paid from it."""
    book = opened(books).manager.book
    books.start("touch-1", 1, "5A")
    books.quoted(_5A="four-aces")
    books.end("touch-1", 1)
    suspend(book, "main", STOP, ONE)
    with pytest.raises(LedgerError, match="claim on jackpot main is not settled"):
        close(book, "main", "", TWO)
