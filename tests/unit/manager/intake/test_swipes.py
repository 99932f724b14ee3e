"""A card is judged for one thing, as long as cards are judged at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.intake.swipes import DISABLED, EXPIRED, LOCKOUT_S, UNKNOWN, WITHIN_S, WRONG_MAX
from manager.ledger.store.entries import EventSource
from protocol.numbers import (
    ROLE_EXECUTIVE,
    SWIPE_CABINET,
    SWIPE_CLAIM,
    SWIPE_REOPEN,
    SWIPE_TRAINING,
    SWIPE_VOID,
)
from protocol.wire.messages import Verdict
from tests.kit.pretend_books import Books, document
from tests.kit.pretend_units import EXECUTIVE_ACCOUNT

TABLE = "touch-1"
NOBODY = "0000000000"


@pytest.fixture
def desk() -> Books:
    books = Books()
    books.open(document())
    return books


def swiped(desk: Books, purpose: int, number: int = 0, account: str = EXECUTIVE_ACCOUNT) -> Verdict:
    return desk.swipe(TABLE, number, account, purpose)


def wait_s(verdict: Verdict) -> int:
    assert (verdict.role, verdict.is_wrong) == (0, False)
    return int(verdict.sentence.removeprefix("Too many wrong cards. Wait ").removesuffix(" s."))


def test_so_many_wrong_cards_within_so_long_end_the_judging_for_a_while(desk: Books) -> None:
    for _ in range(WRONG_MAX):
        verdict = swiped(desk, SWIPE_CABINET, account=NOBODY)
        assert (verdict.sentence, verdict.is_wrong, verdict.ticket) == (UNKNOWN, True, b"")
    last_ms = desk.manager.book.swipes.newest_wrong_ms(TABLE, 1)[0]
    desk.clock.ms = last_ms
    assert wait_s(swiped(desk, SWIPE_CABINET)) == LOCKOUT_S
    desk.clock.ms = last_ms + LOCKOUT_S * 1000 - 2
    assert wait_s(swiped(desk, SWIPE_CABINET)) == 1
    desk.clock.ms = last_ms + LOCKOUT_S * 1000
    assert swiped(desk, SWIPE_CABINET).role == ROLE_EXECUTIVE


def test_wrong_cards_that_are_spread_over_longer_lock_nobody_out(desk: Books) -> None:
    for _ in range(WRONG_MAX):
        swiped(desk, SWIPE_CABINET, account=NOBODY)
        desk.clock.ms += WITHIN_S * 1000 // (WRONG_MAX - 1)
    assert swiped(desk, SWIPE_CABINET).role == ROLE_EXECUTIVE


def test_a_house_may_be_stricter() -> None:
    desk = Books()
    limits = {"wrong_cards_max": 3, "wrong_cards_within_s": 60, "card_lockout_s": 120}
    desk.open(document(policy=limits))
    for _ in range(3):
        assert swiped(desk, SWIPE_CABINET, account=NOBODY).is_wrong
    assert 119 <= wait_s(swiped(desk, SWIPE_CABINET)) <= 120


def test_a_void_is_for_the_round_that_is_on_and_a_reopening_for_the_one_that_ended(
    desk: Books,
) -> None:
    assert swiped(desk, SWIPE_REOPEN, 1).role == 0
    desk.start(TABLE, 1, "1A")
    assert swiped(desk, SWIPE_VOID, 1).role == ROLE_EXECUTIVE
    assert swiped(desk, SWIPE_VOID, 2).role == 0
    assert swiped(desk, SWIPE_REOPEN, 1).role == 0
    desk.end(TABLE, 1)
    assert swiped(desk, SWIPE_VOID, 1).role == 0
    assert swiped(desk, SWIPE_REOPEN, 1).role == ROLE_EXECUTIVE
    assert swiped(desk, SWIPE_REOPEN, 2).role == 0


def test_training_and_cabinet_need_no_round(desk: Books) -> None:
    for purpose in (SWIPE_CABINET, SWIPE_TRAINING):
        verdict = swiped(desk, purpose, 3)
        assert (verdict.role, verdict.label, len(verdict.ticket)) == (
            ROLE_EXECUTIVE,
            "EXECUTIVE",
            16,
        )
        assert (verdict.is_wrong, verdict.sentence) == (False, "")


def test_a_claim_waits_for_a_card_from_its_receipt_to_its_commit(desk: Books) -> None:
    desk.start(TABLE, 1, "1A", "5A")
    outcome = desk.claim(TABLE, 1, 1, s5A="four-aces")
    assert swiped(desk, SWIPE_CLAIM, 1).sentence == "Claim 1 waits for no card."
    desk.receive_award(TABLE, outcome)
    assert swiped(desk, SWIPE_CLAIM, 1).role == ROLE_EXECUTIVE
    desk.by_card(TABLE, 1, 1)
    assert swiped(desk, SWIPE_CLAIM, 1).sentence == "Claim 1 waits for no card."


def test_a_locked_units_card_is_not_judged(desk: Books) -> None:
    units = desk.manager.units
    unit = units.get(f"UF-{TABLE}")
    with desk.store.transaction():
        units.lock(unit, "It forked.", EventSource(unit.unit_id))
    verdict = swiped(desk, SWIPE_CABINET)
    assert (verdict.role, verdict.is_wrong) == (0, False)
    assert "It forked." in verdict.sentence


def test_a_card_is_good_to_the_end_of_its_last_day(desk: Books) -> None:
    judge, day_ms = desk.manager.swipes, 86_400_000
    for card in desk.manager.book.tables.rules(TABLE).authority.cards:
        last = replace(card, last_day=20_000)
        desk.clock.ms = 20_001 * day_ms - 2  # the clock adds one when it is read
        assert judge._what_is_wrong(last) == ""
        desk.clock.ms = 20_001 * day_ms - 1
        assert judge._what_is_wrong(last) == EXPIRED
        assert judge._what_is_wrong(card) == ""
        assert judge._what_is_wrong(replace(card, enabled=False)) == DISABLED
