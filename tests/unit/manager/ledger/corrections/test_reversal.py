"""A win that is taken back: the meter makes up what others have drawn since, then the house."""

from __future__ import annotations

from manager.ledger.store import accounts
from tests.kit.pretend_books import CENT, TERMS, Books, document


def test_the_same_meter_makes_up_what_the_next_winner_drew(books: Books) -> None:
    """Catches: the house paying for what the meter itself still has, or a part below zero."""
    terms = TERMS | {"contribution_ppm": 0, "reserve_ppm": 500_000}
    books.open(document(jackpots={"main": terms}))
    books.start("touch-1", 1, "1A", "2A", "5A")
    assert books.meter() == (0, 100_000 * CENT, 150 * CENT)
    books.paid(_5A="four-aces")  # its reseed shows the reserve
    assert books.meter() == (150 * CENT, 100_000 * CENT, 0)
    books.end("touch-1", 1)
    books.start("touch-1", 2, "5A")
    books.paid(2, 2, _5A="four-aces")  # which goes to the next winner
    assert books.meter() == (50 * CENT, 100_000 * CENT, 0)
    books.end("touch-1", 2)
    books.reverse(1)
    assert books.meter() == (0, (100_000 - 100) * CENT, 150 * CENT)
    assert books.store.balance(accounts.HOUSE_SHORTFALL) == 0
