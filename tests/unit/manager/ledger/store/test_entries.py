"""What may never be written into the books, whoever asks."""

from __future__ import annotations

import pytest

from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import MICROCENTS_MAX, Entry, Kind, Posting, Reference


def entry(*postings: Posting, kind: Kind = Kind.OPENING, sentence: str = "Opened.") -> Entry:
    return Entry(kind, Reference("touch-1"), sentence, postings)


def moving(amount: int) -> Entry:
    return entry(Posting("players", -amount), Posting("house", amount))


def test_a_posting_holds_at_most_what_can_be_added_up_in_64_bits() -> None:
    """Catches: the bounds of a posting not refused."""
    moving(MICROCENTS_MAX).check()
    for amount in (MICROCENTS_MAX + 1, -MICROCENTS_MAX - 1, 10**30):
        with pytest.raises(LedgerError, match="cannot be posted"):
            moving(amount).check()


def test_a_posting_moves_something_on_a_named_account() -> None:
    with pytest.raises(LedgerError, match="0 micro-cents cannot be posted to players"):
        moving(0).check()
    with pytest.raises(LedgerError, match="needs an account"):
        entry(Posting("", 5), Posting("house", -5)).check()


def test_an_account_is_named_once() -> None:
    twice = entry(Posting("house", 5), Posting("house", -5))
    with pytest.raises(LedgerError, match="names an account twice"):
        twice.check()


@pytest.mark.parametrize("kind", [Kind.WAGER, Kind.VOIDED, Kind.ENVY, Kind.ADJUSTMENT])
def test_what_is_about_money_must_move_some(kind: Kind) -> None:
    with pytest.raises(LedgerError, match="must move money"):
        entry(kind=kind).check()
    entry(kind=Kind.CLAIM_LOGGED).check()


def test_the_detail_is_one_text_however_it_was_put_together() -> None:
    one = Entry(Kind.NOTE, Reference(), "x", (), detail={"b": 1, "a": "é"})
    other = Entry(Kind.NOTE, Reference(), "x", (), detail={"a": "é", "b": 1})
    assert one.detail_text() == other.detail_text() == '{"a":"é","b":1}'
