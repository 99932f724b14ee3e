"""A win that nobody entered: recorded after its round, at the price of its round, by two people."""

from __future__ import annotations

import pytest

from manager.audit.audit import audit
from manager.explain.statement import explain
from manager.explain.words import lines_of
from manager.ledger.corrections.forgotten import record_forgotten
from manager.ledger.corrections.reasons import LateWinReason, Signed
from manager.ledger.errors import LedgerError
from protocol.numbers import ROLE_EXECUTIVE
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Error
from protocol.wire.rows import ClaimedHand
from tests.kit.pretend_books import TWO
from tests.kit.pretend_units import Desk, only

TABLE, OTHER = "touch-1", "touch-2"
JACKPOT = [ClaimedHand("5A", "four-aces")]


@pytest.fixture
def desk() -> Desk:
    """Two linked tables; round 1 of the first was ended without its winner at seat 5."""
    desk = Desk()
    desk.open_table(TABLE)
    desk.open_table(OTHER)
    desk.manager.restate_opening("main", 800_000)
    desk.start(TABLE, 1, "2A", "5A", "7A")
    desk.end(TABLE, 1)
    return desk


def forgotten(desk: Desk, number: int = 1, signed: Signed = TWO) -> int:
    book = desk.manager.book
    return record_forgotten(book, TABLE, number, JACKPOT, LateWinReason.NOT_ENTERED, signed)


def paid(desk: Desk, number: int) -> list[tuple[str, int]]:
    win = desk.manager.book.wins.find(number)
    assert win is not None
    return [(line.sensor, line.amount_cents) for line in win.lines]


def test_it_pays_what_the_meter_showed_when_its_round_ended(desk: Desk) -> None:
    """Catches: a price of now, with what was contributed since."""
    desk.start(TABLE, 2, "1A", "2A")
    desk.start(OTHER, 1, "1A")
    assert forgotten(desk) == 1
    assert paid(desk, 1) == [("5A", 800_075)]
    win = desk.manager.book.wins.find(1)
    assert win is not None
    assert [(line.sensor, line.amount_cents) for line in win.envy] == [
        ("7A", 10_000),
        ("2A", 10_000),
    ]
    # What came since stays, on top of seed and the reserve of three bets.
    assert desk.shown() == 1_000_015 + 75
    assert audit(desk.store).sound


def test_it_pays_the_same_after_somebody_else_won_the_jackpot(desk: Desk) -> None:
    desk.start(OTHER, 1, "1A")
    desk.win(OTHER, 1, 1, s1A="four-aces")
    number = forgotten(desk)
    assert paid(desk, number) == [("5A", 800_075)]
    explained = explain(desk.store, number)
    assert explained is not None
    assert explained.agrees
    assert audit(desk.store).sound


def test_its_reason_and_its_people_are_in_the_chain_and_in_the_explanation(desk: Desk) -> None:
    number = forgotten(desk, signed=Signed("Ann", "Bob", "seen on camera 4"))
    explained = explain(desk.store, number)
    assert explained is not None
    told = "Recorded after its round by Ann and Bob: not-entered (seen on camera 4)."
    assert explained.afterwards == told
    assert told in list(lines_of(explained, every_wager=False))
    assert desk.alarm_codes()[-1] == "FORGOTTEN_WIN"


def test_it_needs_two_people_and_a_bet_that_was_not_paid(desk: Desk) -> None:
    with pytest.raises(LedgerError, match="second person"):
        forgotten(desk, signed=Signed("Ann"))
    forgotten(desk)
    with pytest.raises(LedgerError, match="has a claim in round 1 already"):
        forgotten(desk)
    with pytest.raises(LedgerError, match="played no round 9"):
        forgotten(desk, 9)


def test_a_round_under_way_and_a_void_one_have_no_forgotten_win(desk: Desk) -> None:
    """Catches: a winner of a round whose bets were given back."""
    desk.start(TABLE, 2, "5A")
    with pytest.raises(LedgerError, match="entered at the table"):
        forgotten(desk, 2)
    desk.void(TABLE, 2)
    with pytest.raises(LedgerError, match="is void"):
        forgotten(desk, 2)


def test_it_can_be_reversed_like_any_other(desk: Desk) -> None:
    before = {name: amount for name, amount in desk.store.balances().items() if amount}
    forgotten(desk)
    who = {"operator": "Ann", "second": "Bob"}
    desk.manager.correct({"command": "reverse-win", "win": "1", "reason": "not-won"} | who)
    assert {name: amount for name, amount in desk.store.balances().items() if amount} == before
    assert audit(desk.store).sound


@pytest.mark.parametrize(
    ("claimed", "state"), [("5A", "CANCELLED"), ("7A", "OPEN"), ("5A 7A", "CANCELLED")]
)
def test_a_claim_whose_card_was_refused_gives_way_to_the_two_people(
    desk: Desk, claimed: str, state: str
) -> None:
    """Catches: the claim that the table could not have booked stands in the way of its own win."""
    desk.start(TABLE, 2, "5A", "7A")
    hands = {f"s{sensor}": "four-aces" for sensor in claimed.split()}
    desk.receive_award(TABLE, desk.claim(TABLE, 2, 1, **hands))
    refused = only(desk.say(TABLE, events.Commit(2, 1, 2, bytes(16), ROLE_EXECUTIVE)), Error)
    assert refused.code == ErrorCode.CARD_REFUSED
    desk.end(TABLE, 2)
    assert forgotten(desk, 2) == 1
    claim = desk.manager.book.claims.get(TABLE, 1)
    assert claim.state.name == state
    assert audit(desk.store).sound
