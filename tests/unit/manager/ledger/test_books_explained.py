"""Every award can be explained, by whatever policy it was paid and however it was recorded."""

from __future__ import annotations

import pytest

from manager.explain.plain import as_plain
from manager.explain.statement import explain
from manager.explain.words import lines_of
from manager.ledger.corrections.replacement import record_instead
from protocol.wire.rows import ClaimedHand
from tests.kit.pretend_books import HOUSE, LEVELS, TERMS, TWO, Books, document, game

HANDS = {"_6A": "tenth", "_5A": "mega", "_3A": "mega", "_2A": "tenth", "_1A": "minor"}


def opened(books: Books, **terms: object) -> None:
    jackpots = {"top": TERMS | terms, "low": TERMS | terms}
    books.open(document(jackpots=jackpots, games={"A": game(LEVELS.id, mega="top", minor="low")}))
    books.start("touch-1", 1, "1A", "2A", "3A", "5A", "6A")


@pytest.mark.parametrize("freeze_claims", [False, True], ids=["", "locked"])
@pytest.mark.parametrize("policy", ["sequential", "equal_share", "each_full"])
def test_by_every_policy(books: Books, policy: str, freeze_claims: bool) -> None:
    opened(books, award_policy=policy, freeze_claims=freeze_claims)
    books.paid(**HANDS)
    found = explain(books.store, 1)
    assert found is not None
    assert found.agrees, as_plain(found)
    assert list(lines_of(found, True))[-1] == "The amount follows from the ledger."


def test_a_share_is_explained_by_the_award_it_is_a_part_of(books: Books) -> None:
    opened(books, award_policy="equal_share")
    books.paid(_5A="mega", _3A="mega")
    found = explain(books.store, 1)
    assert found is not None
    assert [(story.sharers, story.expected_cents) for story in found.stories] == [(2, 50_062)] * 2
    assert "divided by 2" in "\n".join(lines_of(found, False))


def test_a_posted_prize(books: Books) -> None:
    opened(books, **HOUSE)
    books.paid(_5A="mega", _3A="tenth")
    found = explain(books.store, 1)
    assert found is not None
    assert found.agrees, as_plain(found)


def test_a_win_recorded_again_and_one_recorded_in_its_place(books: Books) -> None:
    opened(books)
    books.paid(_5A="mega")
    books.end("touch-1", 1)
    books.start("touch-1", 2, "1A", "2A")
    books.reverse(1)
    record_instead(books.manager.book, 1, TWO)
    books.reverse(2)
    hands = [ClaimedHand("5A", "tenth"), ClaimedHand("3A", "mega")]
    record_instead(books.manager.book, 2, TWO, hands)
    for number in (1, 2, 3):
        found = explain(books.store, number)
        assert found is not None
        assert found.agrees, as_plain(found)
        assert found.win.number == number
