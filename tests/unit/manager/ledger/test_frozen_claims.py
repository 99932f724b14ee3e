"""Claims whose amount is fixed before the meter moves, alone and side by side."""

from __future__ import annotations

import pytest

from manager.audit.audit import audit
from manager.ledger.errors import LedgerError
from manager.web.words import stamp_sentence
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Award, Committed, Error
from sim.floor import figures
from tests.kit.pretend_units import SHARES, Desk, only

CENT = 1_000_000


@pytest.fixture
def desk() -> Desk:
    """Two keypad tables and a touch table on one meter."""
    desk = Desk()
    desk.open_table("keypad-1", workflow="keypad")
    desk.open_table("keypad-2", workflow="keypad")
    desk.open_table("touch-1")
    desk.manager.restate_opening("main", 800_000)
    return desk


def jpot(desk: Desk, table_id: str, number: int = 1, **hands: str) -> Award:
    """J-POT under the key: the amount is fixed and logged, the meter stays."""
    outcome = desk.claim(table_id, 1, number, frozen=True, **hands)
    return desk.receive_award(table_id, outcome)


def test_the_amount_is_fixed_at_the_claim_and_contributions_stay_on_the_meter(desk: Desk) -> None:
    desk.start("keypad-1", 1, "2A", "5A", "7A")
    award = jpot(desk, "keypad-1", s5A="four-aces")
    assert (award.lines[0].amount_cents, award.frozen) == (800_075, True)
    assert desk.shown() == 800_075
    assert figures.award_cents(desk.manager.book, "keypad-1", 5) == 800_075  # logged
    desk.start("keypad-2", 1, "1A", "2A")  # 50 cents and 10 cents of reserve in between
    assert desk.shown() == 800_125
    committed = only(desk.by_key("keypad-1", 1, 1), Committed)
    assert committed.lines == award.lines
    # 0.50 stayed on the meter; seed 10000.00 and the reserve of all five bets came on top.
    assert desk.shown() == 1_000_075
    assert audit(desk.store).sound


def test_the_logged_amount_is_in_the_chain_before_it_moves(desk: Desk) -> None:
    desk.start("keypad-1", 1, "5A")
    jpot(desk, "keypad-1", s5A="four-aces")
    *_, recorded = desk.about_money()
    assert (recorded.kind, list(recorded.postings)) == ("CLAIM_LOGGED", [])
    assert '["5A","four-aces",800025,"main",1]' in recorded.detail_text


BACK_OUT = {"command": "back-out", "claim": "1", "reason": "wrong-hand", "operator": "Ann"}


def test_a_logged_win_is_backed_out_by_two_people_before_it_is_paid(desk: Desk) -> None:
    """Catches: a win that J-POT logged and nobody can take back before it is booked."""
    desk.start("keypad-1", 1, "5A")
    jpot(desk, "keypad-1", s5A="four-aces")
    request = BACK_OUT | {"table": "keypad-1"}
    with pytest.raises(LedgerError, match="second person"):
        desk.manager.correct(request)
    desk.manager.correct(request | {"second": "Bob"})
    assert desk.alarm_codes() == ["BACKED_OUT"]
    (entry,) = [each for each, _ in desk.store.recorded() if each.kind == "BACKED_OUT"]
    assert (entry.reference.claim_number, entry.reference.table_id) == (1, "keypad-1")
    assert '"logged":' in entry.detail_text
    with pytest.raises(LedgerError, match="has made no claim 9"):
        desk.manager.correct(request | {"second": "Bob", "claim": "9"})
    with pytest.raises(LedgerError, match="is backed out already"):
        desk.manager.correct(request | {"second": "Bob"})
    # The key was turned meanwhile: the commit books nothing, and the unit hears why.
    error = only(desk.by_key("keypad-1", 1, 1), Error)
    assert (error.code, error.claim_number) == (ErrorCode.BACKED_OUT, 1)
    assert desk.shown() == 800_025
    repeated = desk.manager.intake.pending_answers("keypad-1")
    assert [each.code for each in repeated if isinstance(each, Error)] == [ErrorCode.BACKED_OUT]
    assert desk.say("keypad-1", events.Cancel(1, 1)).answers == []
    assert desk.manager.intake.pending_answers("keypad-1") == []
    page = desk.manager.view.claim("keypad-1", 1)
    assert page is not None
    assert stamp_sentence(page).startswith("NOT TO BE PAID. Claim 1 of $8,000.25 was backed out by")
    jpot(desk, "keypad-1", 2, s5A="straight-flush")  # the bet can be claimed anew
    assert only(desk.by_key("keypad-1", 1, 2), Committed).lines[0].amount_cents == 10_000
    assert audit(desk.store).sound


def test_what_was_set_aside_for_a_win_that_is_backed_out_comes_back(desk: Desk) -> None:
    desk.start("keypad-1", 1, "5A")
    desk.start("keypad-2", 1, "5A")
    jpot(desk, "keypad-1", s5A="four-aces")
    jpot(desk, "keypad-2", s5A="four-aces")
    desk.by_key("keypad-2", 1, 1)  # the later win is paid first: the first one is set aside
    assert desk.store.balance("owed/keypad-1/1") == 800_050 * CENT
    before = desk.shown()
    desk.manager.correct(BACK_OUT | {"table": "keypad-1", "second": "Bob"})
    assert desk.store.balance("owed/keypad-1/1") == 0
    assert desk.shown() == before + 800_050
    with pytest.raises(LedgerError, match="is win 1: reverse it"):
        desk.manager.correct(BACK_OUT | {"table": "keypad-2", "second": "Bob"})
    assert audit(desk.store).sound


def test_what_is_not_logged_is_cancelled_at_the_table(desk: Desk) -> None:
    desk.start("touch-1", 1, "5A")
    desk.claim("touch-1", 1, 1, s5A="four-aces")
    with pytest.raises(LedgerError, match="the table can cancel it itself"):
        desk.manager.correct(BACK_OUT | {"table": "touch-1", "second": "Bob"})


def test_a_logged_win_cannot_be_cancelled(desk: Desk) -> None:
    desk.start("keypad-1", 1, "5A")
    jpot(desk, "keypad-1", s5A="four-aces")
    error = only(desk.say("keypad-1", events.Cancel(1, 1)), Error)
    assert "stands" in error.sentence
    assert only(desk.by_key("keypad-1", 1, 1), Committed).lines[0].amount_cents == 800_025


def test_a_claim_fixed_by_the_meters_terms_can_be_cancelled_after_a_later_one_was_paid() -> None:
    desk = Desk()
    desk.open_table("touch-1", freeze_claims="true")
    desk.open_table("touch-2", freeze_claims="true")
    desk.start("touch-1", 1, "3A", "5A")
    desk.start("touch-2", 1, "5A")
    desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, s5A="four-aces"))
    first = desk.shown()
    # Paid from what the fixed claim leaves, which is therefore set aside now.
    later = desk.win("touch-2", 1, 1, s5A="four-aces")
    assert later.lines[0].amount_cents == 1_000_015
    assert desk.store.balance("owed/touch-1/1") > 0
    assert desk.say("touch-1", events.Cancel(1, 1)).answers == []
    kind, moved = desk.entries()[-1]
    assert (kind, moved["owed/touch-1/1"]) == ("GIVEN_BACK", -(first + 10_000) * CENT)
    assert desk.store.balance("owed/touch-1/1") == 0
    assert desk.shown() == first + 1_000_000  # the seed of the later award, and all of the first
    again = desk.win("touch-1", 1, 2, s5A="four-aces")
    assert again.lines[0].amount_cents == first + 1_000_000
    assert audit(desk.store).sound


def test_a_later_claim_is_priced_after_the_fixed_ones(desk: Desk) -> None:
    desk.start("keypad-1", 1, "5A")
    desk.start("keypad-2", 1, "5A")
    first = jpot(desk, "keypad-1", s5A="four-aces")
    second = jpot(desk, "keypad-2", s5A="four-aces")
    assert first.lines[0].amount_cents == 800_050
    assert second.lines[0].amount_cents == 1_000_010  # seed and the reserve of two bets


@pytest.mark.parametrize("order", [("keypad-1", "keypad-2"), ("keypad-2", "keypad-1")])
def test_keys_turned_back_in_any_order_pay_the_logged_amounts(
    desk: Desk, order: tuple[str, str]
) -> None:
    desk.start("keypad-1", 1, "5A")
    desk.start("keypad-2", 1, "5A")
    jpot(desk, "keypad-1", s5A="four-aces")
    jpot(desk, "keypad-2", s5A="four-aces")
    paid = {table: only(desk.by_key(table, 1, 1), Committed) for table in order}
    assert paid["keypad-1"].lines[0].amount_cents == 800_050
    assert paid["keypad-2"].lines[0].amount_cents == 1_000_010
    assert desk.shown() == 1_000_000
    assert desk.store.balance("house/shortfall") == 0
    assert desk.store.balance("owed/keypad-1/1") == 0
    assert desk.store.balance("players") == (800_050 + 1_000_010 - 200) * CENT
    assert audit(desk.store).sound


def test_a_touch_win_in_between_waits_for_no_key_and_takes_nothing_from_a_logged_win(
    desk: Desk,
) -> None:
    desk.start("keypad-1", 1, "5A")
    desk.start("touch-1", 1, "6A")
    jpot(desk, "keypad-1", s5A="four-aces")
    quote = desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, s6A="four-aces"))
    committed = only(desk.by_card("touch-1", 1, 1), Committed)
    assert quote.lines == committed.lines
    assert committed.lines[0].amount_cents == 1_000_010
    assert desk.store.balance("owed/keypad-1/1") == 800_050 * CENT
    assert figures.award_cents(desk.manager.book, "keypad-1", 5) == 800_050
    assert only(desk.by_key("keypad-1", 1, 1), Committed).lines[0].amount_cents == 800_050
    assert desk.store.balance("owed/keypad-1/1") == 0
    assert desk.shown() == 1_000_000
    win = desk.manager.view.win(2)
    assert win is not None
    (line,) = win["lines"]
    assert (line["meter_before_cents"], line["meter_after_cents"]) == (800_050, 1_000_010)


def test_a_fixed_pay_under_the_key_needs_no_meter_and_disturbs_no_order(desk: Desk) -> None:
    desk.start("keypad-1", 1, "5A")
    desk.start("keypad-2", 1, "6A")
    jpot(desk, "keypad-1", s5A="four-of-a-kind")
    jpot(desk, "keypad-2", s6A="four-aces")
    only(desk.by_key("keypad-2", 1, 1), Committed)
    assert desk.store.balance("owed/keypad-1/1") == 0
    assert only(desk.by_key("keypad-1", 1, 1), Committed).lines[0].amount_cents == 30_000


def test_the_key_authorises_only_what_was_logged_under_it(desk: Desk) -> None:
    desk.start("touch-1", 1, "6A")
    desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, s6A="four-aces"))
    error = only(desk.by_key("touch-1", 1, 1), Error)
    assert "by key" in error.sentence
    assert figures.award_cents(desk.manager.book, "touch-1", 6) == 0


def test_the_dealer_may_confirm_a_small_fixed_pay_on_a_keypad_table(desk: Desk) -> None:
    desk.start("keypad-1", 1, "5A")
    award = desk.receive_award("keypad-1", desk.claim("keypad-1", 1, 1, s5A="three-of-a-kind"))
    assert not award.frozen
    outcome = desk.say("keypad-1", events.Commit(1, 1, 1, b"", 0))
    assert only(outcome, Committed).lines[0].amount_cents == 900


def test_the_terms_freeze_a_touch_claim_at_the_confirmed_entry() -> None:
    desk = Desk()
    desk.open_table("touch-1", freeze_claims="true", opening='"8000.00"')
    desk.open_table("touch-2", freeze_claims="true", opening='"8000.00"')
    desk.start("touch-1", 1, "5A")
    award = desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, s5A="four-aces"))
    desk.start("touch-2", 1, "1A")
    assert award.frozen
    committed = only(desk.by_card("touch-1", 1, 1), Committed)
    assert committed.lines[0].amount_cents == award.lines[0].amount_cents == 800_025
    # 0.25 came in between; seed and the reserve of both bets came with the reseed.
    assert desk.shown() == 1_000_035


def test_a_claim_that_the_terms_froze_may_be_cancelled_before_it_is_authorised() -> None:
    desk = Desk()
    desk.open_table("touch-1", freeze_claims="true", opening='"8000.00"')
    desk.start("touch-1", 1, "5A")
    desk.receive_award("touch-1", desk.claim("touch-1", 1, 1, s5A="four-aces"))
    assert desk.say("touch-1", events.Cancel(1, 1)).answers == []
    assert figures.award_cents(desk.manager.book, "touch-1", 5) == 0
    assert desk.shown() == 800_025


def test_many_fixed_shares_apply_in_the_order_they_were_fixed() -> None:
    desk = Desk()
    tables = [f"keypad-{n}" for n in range(1, 5)]
    for table in tables:
        desk.open_table(table, workflow="keypad", paytable=SHARES.id, opening='"1000.00"')
        desk.start(table, 1, "5A")
    hands = ["tenth", "all", "tenth", "third"]
    awards = [jpot(desk, t, s5A=h) for t, h in zip(tables, hands, strict=True)]
    amounts = [award.lines[0].amount_cents for award in awards]
    assert amounts == [10_010, 90_090, 100_002, 300_005]
    for table in reversed(tables):
        only(desk.by_key(table, 1, 1), Committed)
    assert desk.shown() == 600_013
    assert desk.store.balance("house/shortfall") == 0
    assert audit(desk.store).sound
