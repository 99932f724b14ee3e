"""Corrections as plain requests: what is missing or no number is said, and nothing is done."""

from __future__ import annotations

import pytest

from manager.ledger.corrections.requests import correct
from manager.ledger.errors import LedgerError
from tests.kit.pretend_books import Books, document

TABLE = "touch-1"
TWO = {"operator": "Ann", "second": "Bob"}
ADJUST = {"command": "adjust", "jackpot": "main", **TWO}
UP, DOWN = {"reason": "top-up"}, {"reason": "malfunction"}


@pytest.fixture
def played(books: Books) -> Books:
    """One win of four aces, on a meter that began with 1000.00."""
    books.open(document())
    books.start(TABLE, 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.end(TABLE, 1)
    return books


def refused(books: Books, request: dict[str, str], sentence: str) -> None:
    before = books.store.tail()
    with pytest.raises(LedgerError, match=sentence):
        correct(books.manager.book, request)
    assert books.store.tail() == before


@pytest.mark.parametrize("number", ["", "-1", "1.0", "٣", "one", "1234567890123"])
def test_what_is_no_whole_number_reverses_nothing(played: Books, number: str) -> None:
    request = {"command": "reverse-win", "win": number, "reason": "not-won", **TWO}
    refused(played, request, "is not a whole number" if number else "needs win")


def test_a_number_of_twelve_digits_is_one(played: Books) -> None:
    request = {"command": "reverse-win", "win": "123456789012", "reason": "not-won", **TWO}
    refused(played, request, "no win 123456789012")


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({}, "The correction needs command"),
        ({"command": "pay-me"}, "There is no correction 'pay-me'"),
        ({"command": "reverse-win", "win": "1", "reason": "not-won"}, "needs operator"),
        ({"command": "reverse-win", "win": "1", **TWO}, "needs reason"),
        ({"command": "reverse-win", "win": "1", "reason": "why", **TWO}, "Reversing a win is allo"),
        ({"command": "void-game", "table": TABLE, "reason": "misdeal", **TWO}, "needs round"),
        ({"command": "set-limit", "jackpot": "main", **TWO}, "needs limit"),
        ({"command": "set-limit", "jackpot": "main", "limit": "1.001", **TWO}, "The limit"),
        ({"command": "change-terms", "jackpot": "main", "seed": "x", **TWO}, "The seed"),
        ({"command": "suspend", "jackpot": "main", "reason": "why", **TWO}, "Suspending is allow"),
        ({**ADJUST, **UP}, "either adds or takes"),
        ({**ADJUST, **UP, "add": "1.00", "take": "1.00"}, "either adds or takes"),
        ({**ADJUST, **UP, "add": "1.001"}, "The amount"),
        ({**ADJUST, **DOWN, "take": "1.001"}, "The amount"),
    ],
)
def test_a_request_that_cannot_be_meant_does_nothing(
    played: Books, request_: dict[str, str], sentence: str
) -> None:
    refused(played, request_, sentence)


@pytest.mark.parametrize("hands", ["5A", "5A=", "=four-aces", "5=four-aces", "5A four-aces"])
def test_hands_that_cannot_be_read_are_named(played: Books, hands: str) -> None:
    played.reverse()
    request = {"command": "record-win", "win": "1", "hands": hands, **TWO}
    refused(played, request, "is not a winning hand such as 5A=four-aces")


def test_each_correction_says_what_it_did(played: Books) -> None:
    """Catches: the wrong thing done, or done to another win, meter or amount than was asked for."""
    book = played.manager.book

    def done(**request: str) -> str:
        return correct(book, request | TWO)

    said = done(command="reverse-win", win="1", reason="not-won")
    assert said == f"Win 1 is reversed by transaction {played.store.tail().number}."
    again = done(command="record-win", win="1", hands="2A=four-aces 1A=straight-flush")
    assert again == "Win 2 is recorded in place of win 1."
    win = book.wins.find(2)
    assert win is not None
    assert {(line.sensor, line.hand) for line in win.lines} == {
        ("2A", "four-aces"),
        ("1A", "straight-flush"),
    }
    shown = book.jackpots.state("main").shown_cents
    done(command="adjust", jackpot="main", add="7.00", **UP)
    assert book.jackpots.state("main").shown_cents == shown + 700
    said = done(command="set-limit", jackpot="main", limit="9000.00")
    assert said == "Jackpot main has its new limit."
    assert book.jackpots.get("main").limit_cents == 900_000
    said = done(command="change-terms", jackpot="main", **{"contribution-ppm": "123456"})
    assert said == "Jackpot main has the changed terms from its next reseed on."
    pending = book.jackpots.standing("main").pending
    assert pending is not None
    assert (pending.contribution_ppm, pending.seed_cents) == (123_456, 100_000)
    done(command="suspend", jackpot="main", reason="house-decision")
    assert book.jackpots.standing("main").suspended
    assert done(command="resume", jackpot="main") == "Jackpot main is in operation again."
    assert not book.jackpots.standing("main").suspended
