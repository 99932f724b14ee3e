"""Stamps on a win's slip: the newest one counts, and none is ever taken off."""

from __future__ import annotations

import json

import pytest

from manager.ledger.corrections.reasons import ReversalReason, Signed
from manager.ledger.corrections.reversal import reverse_win
from manager.ledger.errors import LedgerError
from manager.ledger.stamps import NOTE_MAX, Stamp, put_stamp, stamps_of
from tests.kit.pretend_units import Desk, desk_with_a_win


@pytest.fixture
def desk() -> Desk:
    desk = desk_with_a_win()
    desk.start("touch-1", 2, "2A", "5A")
    desk.win("touch-1", 2, 2, s5A="three-of-a-kind")
    return desk


def test_stamps_stay_in_order_each_with_its_number(desk: Desk) -> None:
    """Catches: a number that is given twice, so that a stamp would replace another one."""
    put_stamp(desk.store, 1, Stamp.NOT_TO_BE_PAID, "Ann", "camera first")
    put_stamp(desk.store, 2, Stamp.PAID, "Ann")
    put_stamp(desk.store, 1, Stamp.PAID, "Bob")
    found = [(each.number, each.stamp, each.by, each.note) for each in stamps_of(desk.store, 1)]
    assert found == [
        (1, Stamp.NOT_TO_BE_PAID, "Ann", "camera first"),
        (3, Stamp.PAID, "Bob", ""),
    ]
    (second,) = stamps_of(desk.store, 2)
    assert (second.number, second.win_number) == (2, 2)
    assert second.time_ms > 0


def test_the_same_stamp_twice_and_a_win_that_is_none_are_refused(desk: Desk) -> None:
    put_stamp(desk.store, 1, Stamp.PAID, "Ann")
    with pytest.raises(LedgerError, match="stamped paid already, by Ann"):
        put_stamp(desk.store, 1, Stamp.PAID, "Bob")
    with pytest.raises(LedgerError, match="no win 9"):
        put_stamp(desk.store, 9, Stamp.PAID, "Ann")
    assert len(stamps_of(desk.store, 1)) == 1


def test_a_reversed_win_is_not_stamped_paid(desk: Desk) -> None:
    reverse_win(desk.manager.book, 1, ReversalReason.NOT_WON, Signed("Ann", "Bob"))
    with pytest.raises(LedgerError, match="not to be paid"):
        put_stamp(desk.store, 1, Stamp.PAID, "Ann")
    put_stamp(desk.store, 1, Stamp.NOT_TO_BE_PAID, "Ann")
    put_stamp(desk.store, 2, Stamp.PAID, "Ann")


def test_a_note_has_its_limit(desk: Desk) -> None:
    put_stamp(desk.store, 1, Stamp.PAID, "Ann", "n" * NOTE_MAX)
    with pytest.raises(LedgerError, match="at most 200 letters"):
        put_stamp(desk.store, 2, Stamp.PAID, "Ann", "n" * (NOTE_MAX + 1))


def test_who_stamped_what_stands_in_the_chain(desk: Desk) -> None:
    """Catches: a slip that was stamped as paid, and of whom nobody can tell."""
    put_stamp(desk.store, 2, Stamp.PAID, "Ann", "by cheque")
    (act,) = [each for each, _ in desk.store.recorded() if each.kind == "ACT"]
    assert act.sentence == "Ann stamped win 2: paid."
    told = {"who": "Ann", "act": "stamp", "win": "2", "stamp": "paid", "note": "by cheque"}
    assert json.loads(act.detail_text) == told
