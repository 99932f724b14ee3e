"""Breaks the ledger on purpose and shows that the random histories of the books notice.

Each mutation is one wrong line somebody could write; the name says what it would do to the money.
The histories run without shrinking and stop at the first thing they find.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from manager.ledger import pricing
from manager.ledger.awards import payments, settling
from manager.ledger.corrections import adjustments, replacement, reversal
from manager.ledger.corrections.reasons import Signed
from manager.ledger.jackpots import Jackpots, Standing
from manager.ledger.pricing import MeterState, Movement, Rate, Share
from manager.ledger.rules import TableRules
from manager.ledger.store.entries import Kind, Posting
from manager.ledger.store.store import Store
from manager.money import MICROCENTS_PER_CENT
from tests.fuzz.books_histories import (
    BooksHistories,
    FullHistories,
    HouseHistories,
    ShareHistories,
)

Patch = pytest.MonkeyPatch
Histories = type[BooksHistories]
MUTATIONS: dict[str, tuple[Histories, Callable[[Patch], None]]] = {}


def mutation(histories: Histories) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    def add(change: Callable[[Patch], None]) -> Callable[[Patch], None]:
        MUTATIONS[change.__name__.replace("_", " ")] = (histories, change)
        return change

    return add


# -- reversing -----------------------------------------------------------------------------------


@mutation(BooksHistories)
def a_reversal_that_forgets_the_reseed(patch: Patch) -> None:
    patch.setattr(reversal, "_UNDONE", (Kind.AWARD, Kind.ENVY, Kind.HANDED_OVER))


@mutation(BooksHistories)
def a_reversal_that_forgets_the_envy(patch: Patch) -> None:
    patch.setattr(reversal, "_UNDONE", (Kind.AWARD, Kind.RESEED, Kind.HANDED_OVER))


@mutation(BooksHistories)
def a_reversal_that_loses_contributions_made_since(patch: Patch) -> None:
    undo = reversal._undo

    def wrong(book: Any, numbers: list[int]) -> defaultdict[str, int]:
        moved = undo(book, numbers)
        for recorded, _ in book.store.recorded(numbers[-1] + 1):
            for account, amount in recorded.postings if recorded.kind == Kind.WAGER else ():
                moved[account] -= amount
        return moved

    patch.setattr(reversal, "_undo", wrong)


@mutation(BooksHistories)
def a_win_that_can_be_reversed_twice(patch: Patch) -> None:
    patch.setattr(reversal, "_win_that_stands", lambda book, number: book.wins.find(number))


@mutation(BooksHistories)
def a_reversal_that_overdraws_instead_of_making_up(patch: Patch) -> None:
    patch.setattr(reversal, "_mend", lambda book, moved: {})


@mutation(BooksHistories)
def a_reversal_that_keeps_the_terms_of_a_reseed_that_never_was(patch: Patch) -> None:
    patch.setattr(reversal, "_give_terms_back", lambda book, numbers: None)


@mutation(BooksHistories)
def a_reversal_by_one_person(patch: Patch) -> None:
    patch.setattr(Signed, "require_two", lambda self, what: None)


@mutation(BooksHistories)
def a_win_recorded_again_on_the_meter_of_today(patch: Patch) -> None:
    patch.setattr(
        replacement,
        "meters_before",
        lambda book, rules, number: book.jackpots.states(rules.meter_ids),
    )


# -- policies ------------------------------------------------------------------------------------


@mutation(ShareHistories)
def shares_that_are_rounded_up(patch: Patch) -> None:
    worth = settling._Settling._worth

    def wrong(self: Any, index: int) -> int:
        return worth(self, index) + (1 if len(self._sharers(index)) > 1 else 0)

    patch.setattr(settling._Settling, "_worth", wrong)


@mutation(ShareHistories)
def an_equal_share_that_is_sequential(patch: Patch) -> None:
    patch.setattr(settling, "EQUAL_SHARE", "never")


@mutation(ShareHistories)
def a_shared_award_paid_again_in_a_second_claim(patch: Patch) -> None:
    patch.setattr(payments.Payments, "refuse_second_share", lambda self, *rest: None)


@mutation(FullHistories)
def each_full_that_measures_on_what_is_left(patch: Patch) -> None:
    patch.setattr(settling, "EACH_FULL", "never")


@mutation(FullHistories)
def each_full_that_forgets_the_round_s_earlier_claims(patch: Patch) -> None:
    patch.setattr(payments.Payments, "_paid", lambda self, *rest: None)


@mutation(HouseHistories)
def a_posted_prize_that_is_used_up(patch: Patch) -> None:
    carry_out = pricing.carry_out

    def wrong(pay: Any, amount: int, meters: Any, reseeds: bool) -> Movement:
        moving = {name: replace(state, posted=False) for name, state in meters.items()}
        return carry_out(pay, amount, moving, reseeds)

    patch.setattr(settling, "carry_out", wrong)


@mutation(BooksHistories)
def pay_order_by_ascending_seat(patch: Patch) -> None:
    patch.setattr("manager.ledger.book.pay_order", lambda sensor: (int(sensor[:-1]), sensor[-1]))


# -- limits, terms, amounts ----------------------------------------------------------------------


@mutation(BooksHistories)
def overflow_that_goes_to_the_house(patch: Patch) -> None:
    share = pricing._share

    def wrong(wager_cents: int, rate: Rate) -> Share:
        return share(wager_cents, replace(rate, overflow_to_house=True))

    patch.setattr(pricing, "_share", wrong)


@mutation(BooksHistories)
def a_limit_that_limits_nothing(patch: Patch) -> None:
    patch.setattr(MeterState, "room_microcents", property(lambda self: None))
    share = pricing._share
    patch.setattr(
        pricing, "_share", lambda cents, rate: share(cents, replace(rate, room_microcents=None))
    )


@mutation(BooksHistories)
def a_reseed_above_the_limit(patch: Patch) -> None:
    patch.setattr(pricing, "_reseed", lambda left: (left.seed_microcents, left.reserve_microcents))


@mutation(BooksHistories)
def a_reserve_left_where_it_is_at_a_reseed(patch: Patch) -> None:
    patch.setattr(pricing, "_reseed", lambda left: (left.seed_microcents, 0))


@mutation(BooksHistories)
def terms_that_are_in_force_at_once(patch: Patch) -> None:
    keep = Jackpots.keep

    def wrong(self: Jackpots, meter_id: str, standing: Standing) -> None:
        terms = standing.pending or standing.terms
        keep(self, meter_id, replace(standing, terms=terms, pending=None))

    patch.setattr(Jackpots, "keep", wrong)


@mutation(BooksHistories)
def terms_that_no_reseed_brings(patch: Patch) -> None:
    keep = Jackpots.keep

    def wrong(self: Jackpots, meter_id: str, standing: Standing) -> None:
        if standing.pending is not None:
            keep(self, meter_id, standing)

    patch.setattr(Jackpots, "keep", wrong)


@mutation(BooksHistories)
def a_percentage_rounded_up(patch: Patch) -> None:
    def wrong(total: int, percent_ppm: int) -> int:
        return -(-total * percent_ppm // 1_000_000 // MICROCENTS_PER_CENT)

    patch.setattr(settling, "percent_of", wrong)


@mutation(BooksHistories)
def an_adjustment_that_takes_more_than_is_there(patch: Patch) -> None:
    patch.setattr(adjustments, "_refuse_above", lambda amount, most, what: None)


@mutation(BooksHistories)
def a_kept_balance_that_forgets_the_last_posting(patch: Patch) -> None:
    after = Store._balance_after

    def wrong(self: Store, posting: Posting) -> int:
        amount = after(self, posting)
        return self.balance(posting.account) if posting.account == "reserve/low" else amount

    patch.setattr(Store, "_balance_after", wrong)


@mutation(BooksHistories)
def envy_for_one_s_own_hand(patch: Patch) -> None:
    patch.setattr("manager.ledger.rules.seats_of_player", lambda seat, joined: set())


@mutation(BooksHistories)
def envy_for_a_seat_without_a_bet(patch: Patch) -> None:
    envy = TableRules.envy

    def wrong(self: TableRules, accepted: Any, pays: Any, joined: Any = ()) -> Any:
        return envy(self, [*accepted, "7A"], pays, joined)

    patch.setattr(TableRules, "envy", wrong)


_QUICK = settings(
    max_examples=100,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
)


@pytest.mark.parametrize(("histories", "change"), MUTATIONS.values(), ids=list(MUTATIONS))
def test_the_histories_notice(
    histories: Histories, change: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    change(monkeypatch)
    with pytest.raises((Exception, pytest.fail.Exception)):
        run_state_machine_as_test(histories, settings=_QUICK)


def test_the_unbroken_ledger_passes_the_same_histories() -> None:
    """Otherwise a mutation would be noticed for no reason."""
    for histories in (BooksHistories, ShareHistories, FullHistories, HouseHistories):
        run_state_machine_as_test(histories, settings=settings(_QUICK, max_examples=5))
