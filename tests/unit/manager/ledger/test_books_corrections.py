"""Reverse Win, a win recorded in its place, and adjustments with their reasons."""

from __future__ import annotations

import pytest

from manager.ledger.corrections.adjustments import increase, reduce
from manager.ledger.corrections.reasons import (
    Increase,
    Reduction,
    ReversalReason,
    Signed,
    StopReason,
    reason_of,
)
from manager.ledger.corrections.replacement import record_instead
from manager.ledger.corrections.reversal import reverse_win
from manager.ledger.errors import LedgerError
from protocol.wire.rows import ClaimedHand
from tests.kit.pretend_books import CENT, HOUSE, TERMS, TWO, Books, document

ONE = Signed("Ann")


def opened(books: Books, **terms: object) -> Books:
    books.open(document(jackpots={"main": TERMS | terms}))
    books.start("touch-1", 1, "1A", "2A", "3A", "5A")
    return books


# -- Reverse Win -------------------------------------------------------------------------------


def test_a_reversed_win_leaves_everything_as_without_it(books: Books) -> None:
    opened(books)
    before = books.store.balances()
    books.paid(_5A="four-aces")
    books.reverse()
    after = {account: amount for account, amount in books.store.balances().items() if amount}
    assert after == before
    kinds = [kind for kind, _ in books.entries()]
    assert kinds[-1] == "REVERSAL"
    assert kinds.count("REVERSAL") == 1


def test_contributions_made_since_stay(books: Books) -> None:
    opened(books)
    player, house, reserve = books.meter()
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.start("touch-1", 2, "1A", "2A")
    books.reverse()
    assert books.meter() == (player + 50 * CENT, house, reserve + 10 * CENT)


def test_a_win_is_reversed_once_by_two_different_people(books: Books) -> None:
    opened(books).paid(_5A="four-aces")
    book = books.manager.book
    for signed in (ONE, Signed("Ann", " ANN ")):
        with pytest.raises(LedgerError, match=r"second person|two different people"):
            reverse_win(book, 1, ReversalReason.NOT_WON, signed)
    number = books.reverse()
    with pytest.raises(LedgerError, match=f"reversed already by transaction {number}"):
        books.reverse()
    with pytest.raises(LedgerError, match="no win 7"):
        reverse_win(book, 7, ReversalReason.NOT_WON, TWO)
    win = book.wins.find(1)
    assert win is not None
    assert win.reversed_by == number
    assert "REVERSED" in books.alarm_codes()


def test_the_chain_tells_who_reversed_what_and_why(books: Books) -> None:
    opened(books).paid(_5A="four-aces")
    number = reverse_win(books.manager.book, 1, ReversalReason.NOT_WON, Signed("Ann", "Bob", "x"))
    ((recorded, _),) = books.store.recorded(number)
    assert recorded.sentence.endswith("reversed by Ann and Bob: not-won.")
    assert '"win":1' in recorded.detail_text
    assert '"undoes":[7,8,9,10,11]' in recorded.detail_text
    assert recorded.reference.claim_number == 1


def test_a_part_that_another_award_drew_from_is_made_up_from_the_same_meter(books: Books) -> None:
    """The reseed of the reversed win was partly paid out meanwhile."""
    terms = {"opening": "10.00", "seed": "500.00", "contribution_ppm": 1_000_000, "reserve_ppm": 0}
    opened(books, fixed_pays_from="meter", **terms)
    assert books.meter() == (400 * CENT, 1_000 * CENT, 0)
    books.paid(_5A="four-aces")
    assert books.meter() == (0, 50_000 * CENT, 0)
    books.paid(2, _3A="four-of-a-kind")  # 300.00 of the seed
    books.reverse()
    # 14.00 came back and the seed of 500.00 left, but only 200.00 of it was there.
    assert books.meter() == (0, 0, 0)
    assert books.store.balance("house/shortfall") == -28_600 * CENT
    assert books.store.balance("house/seed") == -1_000 * CENT


def test_the_table_may_claim_the_same_win_again(books: Books) -> None:
    opened(books)
    first = books.paid(_5A="four-aces")
    after_win = books.store.balances()
    books.reverse()
    assert books.paid(2, _5A="four-aces") == first
    assert books.store.balances() == after_win


# -- a win recorded in place of a reversed one -------------------------------------------------


def test_the_same_win_recorded_again_changes_nothing_else(books: Books) -> None:
    opened(books)
    books.paid(_5A="four-aces", _3A="straight-flush")
    books.end("touch-1", 1)
    books.start("touch-1", 2, "1A", "2A")
    before = books.store.balances()
    books.reverse()
    number = record_instead(books.manager.book, 1, TWO)
    assert books.store.balances() == before
    win = books.manager.book.wins.find(number)
    old = books.manager.book.wins.find(1)
    assert win is not None
    assert old is not None
    assert (win.replaces, old.replaced_by, win.authorised_by) == (1, 2, "Ann and Bob")
    assert win.lines == old.lines
    assert win.envy == old.envy


def test_another_hand_is_paid_what_the_meter_showed_then(books: Books) -> None:
    """Straight flush was pressed for four aces; other bets came in before anyone noticed."""
    opened(books).paid(_5A="straight-flush")
    books.end("touch-1", 1)
    books.start("touch-1", 2, "1A", "2A", "3A")
    books.reverse()
    hands = [ClaimedHand("5A", "four-aces")]
    number = record_instead(books.manager.book, 1, TWO, hands)
    win = books.manager.book.wins.find(number)
    assert win is not None
    assert [line.amount_cents for line in win.lines] == [100_100]
    # Only what came in since is left beside the seed and the reserve of then.
    assert books.meter() == ((75 + 20) * CENT, 100_000 * CENT, 15 * CENT)


def test_the_right_winner_is_paid_though_the_meter_was_won_meanwhile(books: Books) -> None:
    """Catches: the parts of then drawn though they are gone. The store refuses to overdraw them,
    and with it the winner. What the meter lacks now is the house's.
    """
    opened(books).paid(_5A="straight-flush")
    books.end("touch-1", 1)
    books.start("touch-1", 2, "1A")
    books.paid(2, 2, _1A="four-aces")
    player, house, reserve = books.meter()
    assert player + house < 100_100 * CENT
    books.reverse()
    number = record_instead(books.manager.book, 1, TWO, [ClaimedHand("5A", "four-aces")])
    win = books.manager.book.wins.find(number)
    assert win is not None
    assert [line.amount_cents for line in win.lines] == [100_100]
    assert books.store.balance("house/shortfall") == player + house - 100_100 * CENT
    assert books.meter() == (reserve, 100_000 * CENT, 0)


def test_only_a_reversed_win_is_recorded_anew_and_only_once(books: Books) -> None:
    opened(books).paid(_5A="four-aces")
    book = books.manager.book
    with pytest.raises(LedgerError, match="Win 1 stands"):
        record_instead(book, 1, TWO)
    books.reverse()
    with pytest.raises(LedgerError, match="second person"):
        record_instead(book, 1, ONE)
    with pytest.raises(LedgerError, match="7A has no accepted bet"):
        record_instead(book, 1, TWO, [ClaimedHand("7A", "four-aces")])
    record_instead(book, 1, TWO)
    with pytest.raises(LedgerError, match="recorded anew already, as win 2"):
        record_instead(book, 1, TWO)
    assert book.claims.last_number("touch-1") == 1  # the unit's own count goes on


# -- adjustments -------------------------------------------------------------------------------


def test_exactly_the_permitted_reasons_reduce_a_meter() -> None:
    assert [str(reason) for reason in Reduction] == [
        "amount-won",
        "malfunction",
        "over-limit",
        "gross-receipts",
        "seed-recovery",
    ]
    with pytest.raises(LedgerError, match=r"allowed for amount-won, .* not for 'because'"):
        reason_of("because", Reduction, "A reduction")


MOVES = {
    Reduction.AMOUNT_WON: {"meter/main/player": -100, "meter/main/house": -900, "players": 1_000},
    Reduction.MALFUNCTION: {
        "meter/main/player": -100,
        "meter/main/house": -900,
        "house/adjustments": 1_000,
    },
    Reduction.SEED_RECOVERY: {"meter/main/house": -1_000, "house/seed": 1_000},
}


@pytest.mark.parametrize(("reason", "moved"), MOVES.items())
def test_a_reduction_moves_its_own_accounts(
    books: Books, reason: Reduction, moved: dict[str, int]
) -> None:
    opened(books)
    reduce(books.manager.book, "main", 1_000, reason, TWO)
    kind, postings = books.entries()[-1]
    assert kind == "ADJUSTMENT"
    assert postings == {account: cents * CENT for account, cents in moved.items()}


def test_money_that_is_not_shown_may_become_gross_receipts(books: Books) -> None:
    opened(books)
    reduce(books.manager.book, "main", 15, Reduction.GROSS_RECEIPTS, TWO)
    assert books.meter()[2] == 5 * CENT
    with pytest.raises(LedgerError, match=r"Only \$0\.05 the reserve of main holds"):
        reduce(books.manager.book, "main", 6, Reduction.GROSS_RECEIPTS, TWO)


@pytest.mark.parametrize("reason", list(Reduction))
def test_a_reduction_needs_two_people_and_never_takes_more_than_is_there(
    books: Books, reason: Reduction
) -> None:
    opened(books)
    with pytest.raises(LedgerError, match="needs a second person"):
        reduce(books.manager.book, "main", 1, reason, ONE)
    with pytest.raises(LedgerError, match="no more can be taken"):
        reduce(books.manager.book, "main", 200_000, reason, TWO)


def test_an_increase_needs_one_person_and_is_the_house_s_money(books: Books) -> None:
    opened(books)
    player, house, _ = books.meter()
    increase(books.manager.book, "main", 500, Increase.TOP_UP, ONE)
    increase(books.manager.book, "main", 7, Increase.MALFUNCTION, ONE)
    assert books.meter()[:2] == (player + 7 * CENT, house + 500 * CENT)
    assert books.store.balance("house/adjustments") == -7 * CENT
    with pytest.raises(LedgerError, match="name of the operator"):
        Signed(" ")
    with pytest.raises(LedgerError, match="amount above zero"):
        increase(books.manager.book, "main", 0, Increase.TOP_UP, ONE)


def test_a_posted_prize_is_not_adjusted(books: Books) -> None:
    books.open(document(jackpots={"main": HOUSE}))
    with pytest.raises(LedgerError, match="posted prize"):
        increase(books.manager.book, "main", 1, Increase.TOP_UP, ONE)


def test_a_fixed_win_is_paid_before_its_meter_is_adjusted(books: Books) -> None:
    opened(books, freeze_claims=True).quoted(_5A="four-aces")
    with pytest.raises(LedgerError, match="fixed win waits"):
        reduce(books.manager.book, "main", 1, Reduction.MALFUNCTION, TWO)
    assert StopReason.MALFUNCTION == "malfunction"
