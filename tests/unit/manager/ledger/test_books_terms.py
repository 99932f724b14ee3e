"""Terms that change with the next reseed, limits and their overflow, stops, closing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kit.config import ConfigError
from manager.ledger.corrections.reasons import Signed, StopReason
from manager.ledger.corrections.replacement import record_instead
from manager.ledger.corrections.term_changes import change_terms, close, resume, set_limit, suspend
from manager.ledger.errors import LedgerError
from manager.ledger.terms import Jackpot
from tests.kit.pretend_books import (
    CENT,
    HOUSE,
    LEVELS,
    TERMS,
    TWO,
    Books,
    document,
    game,
)

ONE = Signed("Ann")


def opened(books: Books, **terms: Any) -> Books:
    books.open(document(jackpots={"main": TERMS | terms}))
    return books


def play(books: Books, round_number: int, *sensors: str) -> None:
    books.start("touch-1", round_number, *(sensors or ("1A", "2A", "5A")))


# -- terms -------------------------------------------------------------------------------------


def test_changed_terms_wait_for_the_reseed_and_are_in_force_from_it_on(books: Books) -> None:
    opened(books)
    change_terms(books.manager.book, "main", {"seed_cents": 300, "contribution_ppm": 0}, TWO)
    play(books, 1)
    assert books.meter() == (75 * CENT, 100_000 * CENT, 15 * CENT)  # the old rate
    standing = books.manager.book.jackpots.standing("main")
    assert standing.pending is not None
    assert standing.pending.seed_cents == 300
    books.paid(_5A="four-aces")
    assert books.meter() == (15 * CENT, 300 * CENT, 0)  # the new seed
    books.end("touch-1", 1)
    play(books, 2)
    assert books.meter() == (15 * CENT, 300 * CENT, 15 * CENT)  # the new rate
    standing = books.manager.book.jackpots.standing("main")
    assert standing.pending is None
    assert standing.terms.contribution_ppm == 0


def test_reversing_the_win_lets_the_terms_wait_again(books: Books) -> None:
    opened(books)
    change_terms(books.manager.book, "main", {"seed_cents": 300}, TWO)
    play(books, 1)
    books.paid(_5A="four-aces")
    books.reverse()
    standing = books.manager.book.jackpots.standing("main")
    assert standing.terms.seed_cents == 100_000
    assert standing.pending is not None
    assert standing.pending.seed_cents == 300
    record_instead(books.manager.book, 1, TWO)
    assert books.meter()[1] == 300 * CENT
    assert books.manager.book.jackpots.get("main").seed_cents == 300


def test_terms_are_changed_by_two_people_and_within_reason(books: Books) -> None:
    opened(books)
    book = books.manager.book
    with pytest.raises(LedgerError, match="needs a second person"):
        change_terms(book, "main", {"seed_cents": 1}, ONE)
    with pytest.raises(LedgerError, match="fixed_pays_from of a running jackpot cannot"):
        change_terms(book, "main", {"fixed_pays_from": "meter"}, TWO)
    with pytest.raises(LedgerError, match="has these terms already"):
        change_terms(book, "main", {"seed_cents": 100_000}, TWO)
    with pytest.raises(LedgerError, match="more than the whole wager"):
        change_terms(book, "main", {"contribution_ppm": 960_000}, TWO)
    assert book.jackpots.standing("main").pending is None


def test_the_levels_of_a_game_together_never_take_more_than_the_wager(books: Books) -> None:
    half = TERMS | {"contribution_ppm": 400_000, "reserve_ppm": 0}
    played = {"A": game(LEVELS.id, mega="top", minor="low")}
    books.open(document(jackpots={"top": half, "low": half}, games=played))
    change_terms(books.manager.book, "top", {"contribution_ppm": 600_000}, TWO)
    with pytest.raises(LedgerError, match="more than the whole wager"):
        change_terms(books.manager.book, "low", {"contribution_ppm": 500_000}, TWO)


def test_a_house_jackpot_changes_its_prize_between_rounds(books: Books) -> None:
    books.open(document(jackpots={"main": HOUSE}))
    play(books, 1)
    with pytest.raises(LedgerError, match="round is under way"):
        change_terms(books.manager.book, "main", {"seed_cents": 5_000}, TWO)
    books.end("touch-1", 1)
    change_terms(books.manager.book, "main", {"seed_cents": 5_000}, TWO)
    assert books.shown_on("main") == 5_000
    with pytest.raises(LedgerError, match="never increments"):
        change_terms(books.manager.book, "main", {"contribution_ppm": 1}, TWO)


def test_the_file_may_keep_saying_what_was_opened_with(books: Books) -> None:
    text = document()
    books.open(text)
    change_terms(books.manager.book, "main", {"seed_cents": 300}, TWO)
    books.open(text)
    books.open(text.replace('seed = "1000.00"', 'seed = "3.00"'))  # or what is to come
    with pytest.raises(ConfigError, match=r"jackpots\.main\.seed: the jackpot runs with"):
        books.open(text.replace('seed = "1000.00"', 'seed = "4.00"'))


def test_a_restart_finds_the_terms_that_wait(tmp_path: Any) -> None:
    books = Books(str(tmp_path / "ledger.sqlite"))
    opened(books)
    change_terms(books.manager.book, "main", {"seed_cents": 300}, TWO)
    suspend(books.manager.book, "main", StopReason.BANK_BALANCE, ONE)
    books.restart()
    standing = books.manager.book.jackpots.standing("main")
    assert standing.pending is not None
    assert standing.suspended == "bank-balance"
    books.store.close()


# -- limit and overflow ------------------------------------------------------------------------


def test_contributions_above_the_limit_go_to_the_reserve(books: Books) -> None:
    opened(books, limit="1000.60")
    play(books, 1)
    assert books.meter() == (60 * CENT, 100_000 * CENT, (15 + 15) * CENT)
    (overflow,) = [
        recorded.detail_text
        for recorded, _ in books.store.recorded()
        if '"overflow":' in recorded.detail_text and recorded.kind == "WAGER"
    ]
    detail = json.loads(overflow)
    assert detail["overflow"] == {"main": 15 * CENT}
    assert [each["main"] for each in detail["contributions"]] == [25 * CENT, 25 * CENT, 10 * CENT]


def test_or_to_the_house_where_the_jurisdiction_says_so(books: Books) -> None:
    text = document(
        jackpots={"main": TERMS | {"limit": "1000.60"}}, jurisdiction={"over_limit": "house"}
    )
    books.open(text)
    play(books, 1)
    assert books.meter() == (60 * CENT, 100_000 * CENT, 15 * CENT)
    assert books.store.balance("house/share") == (3 * 70 + 15) * CENT


def test_a_limit_counts_also_beside_a_meter_that_has_none(books: Books) -> None:
    """Catches: the same split for every wager of a game, past the one limit that it has."""
    jackpots = {"top": TERMS | {"limit": "1000.30"}, "low": TERMS}
    games = {"A": game(LEVELS.id, mega="top", minor="low")}
    books.open(document(jackpots=jackpots, games=games))
    books.start("touch-1", 1, "1A", "2A")
    assert (books.shown_on("top"), books.shown_on("low")) == (100_030, 100_050)
    assert books.meter("top")[2] == (2 * 5 + 20) * CENT


def test_a_reseed_does_not_bring_more_than_the_limit_allows(books: Books) -> None:
    opened(books, limit="1000.60", reserve_ppm=500_000)
    play(books, 1)
    books.paid(_5A="four-aces")
    assert books.meter() == (60 * CENT, 100_000 * CENT, (150 + 15 - 60) * CENT)


def test_a_limit_is_never_set_below_what_is_shown(books: Books) -> None:
    opened(books)
    play(books, 1)
    with pytest.raises(LedgerError, match=r"must not be below what is shown, \$1,000\.75"):
        set_limit(books.manager.book, "main", 100_074, TWO)
    set_limit(books.manager.book, "main", 100_075, TWO)
    books.end("touch-1", 1)
    play(books, 2)
    assert books.shown_on("main") == 100_075
    set_limit(books.manager.book, "main", 0, TWO)
    with pytest.raises(LedgerError, match="limit of meter x is below its seed"):
        Jackpot("x", "X", 500, 100, 0, 0, False, "tray", limit_cents=400)


# -- stops -------------------------------------------------------------------------------------


def test_a_suspended_jackpot_stops_its_tables_through_their_settings(books: Books) -> None:
    opened(books)
    book = books.manager.book
    before = book.tables.rules("touch-1").settings
    suspend(book, "main", StopReason.TAX_SEIZURE, ONE)
    stopped = book.tables.rules("touch-1").settings
    assert stopped.stop_sentence == "Main is suspended. No game can start."
    assert stopped.digest() != before.digest()
    with pytest.raises(LedgerError, match="suspended already: tax-seizure"):
        suspend(book, "main", StopReason.MALFUNCTION, ONE)
    with pytest.raises(LedgerError, match="needs a second person"):
        resume(book, "main", ONE)
    resume(book, "main", TWO)
    assert book.tables.rules("touch-1").settings.digest() == before.digest()
    with pytest.raises(LedgerError, match="not suspended"):
        resume(book, "main", TWO)


def test_a_bet_taken_before_the_table_heard_of_the_stop_counts_and_is_told(books: Books) -> None:
    opened(books)
    suspend(books.manager.book, "main", StopReason.TAX_SEIZURE, ONE)
    play(books, 1)
    assert books.meter()[0] == 75 * CENT
    assert "STOPPED" in books.alarm_codes()


# -- closing -----------------------------------------------------------------------------------


def test_closing_returns_the_seed_and_hands_the_players_money_on(books: Books) -> None:
    books.open(document(jackpots={"main": TERMS}))
    books.open(
        document(
            "t2", jackpots={"heir": TERMS | {"limit": "1000.50"}}, games={"A": game(top="heir")}
        ),
        "t2",
    )
    play(books, 1)
    book = books.manager.book
    with pytest.raises(LedgerError, match="must be suspended before"):
        close(book, "main", "heir", TWO)
    suspend(book, "main", StopReason.HOUSE_DECISION, ONE)
    with pytest.raises(LedgerError, match="round is under way"):
        close(book, "main", "heir", TWO)
    books.end("touch-1", 1)
    with pytest.raises(LedgerError, match="holds players' money"):
        close(book, "main", "", TWO)
    with pytest.raises(LedgerError, match="another progressive jackpot"):
        close(book, "main", "main", TWO)
    close(book, "main", "heir", TWO)
    assert books.meter("main") == (0, 0, 0)
    assert books.meter("heir") == (50 * CENT, 100_000 * CENT, (25 + 15) * CENT)
    assert books.store.balance("house/seed") == -100_000 * CENT
    assert "closed for good" in book.tables.rules("touch-1").settings.stop_sentence
    with pytest.raises(LedgerError, match="closed for good"):
        resume(book, "main", TWO)


def test_the_wins_of_a_closed_jackpot_stand(books: Books) -> None:
    opened(books)
    play(books, 1)
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.open(document("t2", jackpots={"heir": TERMS}, games={"A": game(top="heir")}), "t2")
    suspend(books.manager.book, "main", StopReason.HOUSE_DECISION, ONE)
    close(books.manager.book, "main", "heir", TWO)
    with pytest.raises(LedgerError, match="main is closed"):
        books.reverse()
