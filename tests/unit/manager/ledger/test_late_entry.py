"""A forgotten win entered at the table: two cards, the price of its round, and nothing else."""

from __future__ import annotations

import pytest

from manager.audit.audit import audit
from manager.explain.statement import explain
from manager.intake.intake import Outcome
from manager.ledger.corrections.reasons import LateWinReason
from protocol.numbers import (
    LATE_WIN_REASONS,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
    SWIPE_LATE_ENTRY,
    SWIPE_REOPEN,
)
from protocol.wire import events
from protocol.wire.messages import Award, Committed, Error
from tests.kit.pretend_units import (
    EXECUTIVE_ACCOUNT,
    SUPERVISOR_ACCOUNT,
    Desk,
    only,
    settled,
)

TABLE, OTHER = "touch-1", "touch-2"
BETS = ("2A", "5A", "7A")


@pytest.fixture
def desk() -> Desk:
    """Two linked tables; round 1 of the first had a winner at seat 5, and round 2 is over."""
    desk = Desk()
    desk.open_table(TABLE)
    desk.open_table(OTHER)
    desk.manager.restate_opening("main", 800_000)
    desk.start(TABLE, 1, *BETS)
    desk.end(TABLE, 1)
    desk.start(TABLE, 2, "1A")
    desk.end(TABLE, 2)
    return desk


def take_up(
    desk: Desk,
    number: int = 1,
    account: str = SUPERVISOR_ACCOUNT,
    role: int = ROLE_SUPERVISOR,
    reason: str = "misread",
) -> Outcome:
    verdict = desk.swipe(TABLE, number, account, SWIPE_LATE_ENTRY)
    ticket = verdict.ticket or bytes(16)
    return desk.say(TABLE, events.LateEntry(number, role, ticket, reason, BETS, (), ()))


def pay(desk: Desk) -> Committed:
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s5A="four-aces"))
    return only(desk.by_card(TABLE, 1, 1), Committed)


def test_it_pays_what_the_meter_showed_when_its_round_ended(desk: Desk) -> None:
    """Catches: a price of now, with what was contributed since."""
    assert take_up(desk).answers == []
    committed = pay(desk)
    assert [(line.sensor, line.amount_cents) for line in committed.lines] == [("5A", 800_075)]
    assert [(line.sensor, line.amount_cents) for line in committed.envy] == [
        ("7A", 10_000),
        ("2A", 10_000),
    ]
    desk.say(TABLE, settled(committed))
    assert desk.say(TABLE, events.Paid(1, 5, 800_075, 9)).answers == []
    assert desk.end(TABLE, 1).answers == []
    # What the second round brought stays, on top of seed and the reserve of three bets.
    assert desk.shown() == 1_000_015 + 25
    assert audit(desk.store).sound


def test_both_people_and_the_reason_are_in_the_chain(desk: Desk) -> None:
    take_up(desk)
    win = pay(desk).win_number
    explained = explain(desk.store, win)
    assert explained is not None
    assert explained.agrees
    told = "Recorded after its round by Supervisor 7 and Executive 2: misread."
    assert explained.afterwards == told
    assert desk.alarm_codes()[-2:] == ["LATE_ENTRY", "FORGOTTEN_WIN"]
    assert "LATE_ENTRY" in [kind for kind, _ in desk.entries()]


def test_one_person_is_not_two(desk: Desk) -> None:
    """Catches: an executive who takes a round up and pays its win alone."""
    take_up(desk, account=EXECUTIVE_ACCOUNT, role=ROLE_EXECUTIVE)
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s5A="four-aces"))
    assert "two people" in only(desk.by_card(TABLE, 1, 1), Error).sentence
    assert desk.manager.book.wins.find(1) is None


def test_who_took_it_up_last_is_the_one_who_needs_a_second(desk: Desk) -> None:
    """Catches: an earlier supervisor's name lent to an executive who came back alone."""
    for account, role in (
        *((SUPERVISOR_ACCOUNT, ROLE_SUPERVISOR),) * 2,
        (EXECUTIVE_ACCOUNT, ROLE_EXECUTIVE),
    ):
        desk.end(TABLE, 1)
        take_up(desk, account=account, role=role)
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s5A="four-aces"))
    assert "two people" in only(desk.by_card(TABLE, 1, 1), Error).sentence


def test_a_small_pay_needs_the_executive_too(desk: Desk) -> None:
    take_up(desk)
    award = desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s5A="three-of-a-kind"))
    assert award.role == ROLE_EXECUTIVE
    alone = desk.say(TABLE, events.Commit(1, 1, 1, b"", 0))
    assert "EXECUTIVE" in only(alone, Error).sentence


def test_without_a_card_judged_for_it_no_round_is_taken_up(desk: Desk) -> None:
    """Catches: a unit that only says that a supervisor was there."""
    for ticket in (bytes(16), desk.swipe(TABLE, 2, SUPERVISOR_ACCOUNT, SWIPE_REOPEN).ticket):
        body = events.LateEntry(1, ROLE_SUPERVISOR, ticket, "misread", BETS, (), ())
        assert "No card was swiped" in only(desk.say(TABLE, body), Error).sentence
    assert isinstance(desk.claim(TABLE, 1, 1, s5A="four-aces").answers[0], Error)
    assert audit(desk.store).sound


def test_what_is_no_earlier_round_is_not_taken_up(desk: Desk) -> None:
    assert "not an earlier one" in only(take_up(desk, 2), Error).sentence
    assert "not an earlier one" in only(take_up(desk, 9), Error).sentence
    assert "is allowed for" in only(take_up(desk, reason="because"), Error).sentence
    desk.start(TABLE, 3, "1A")
    assert "not an earlier one" in only(take_up(desk), Error).sentence
    desk.void(TABLE, 3)
    desk.start(TABLE, 4, "1A")
    desk.end(TABLE, 4)
    assert "is void" in only(take_up(desk, 3), Error).sentence


def test_after_its_end_nothing_more_is_entered_and_its_end_is_what_it_was(desk: Desk) -> None:
    """Catches: a door that stays open, and a second forgotten win at a later price."""
    book = desk.manager.book
    ended_ms = book.rounds.get(TABLE, 1).ended_ms
    take_up(desk)
    desk.end(TABLE, 1)
    assert book.rounds.get(TABLE, 1).ended_ms == ended_ms
    assert isinstance(desk.claim(TABLE, 1, 1, s5A="four-aces").answers[0], Error)
    desk.start(OTHER, 1, "1A")
    take_up(desk)
    award = only(desk.claim(TABLE, 1, 2, s5A="four-aces"), Award)
    assert award.lines[0].amount_cents == 800_075


def test_a_round_that_was_taken_up_is_never_void(desk: Desk) -> None:
    """Catches: wagers of long ago given back beside a win of them."""
    take_up(desk)
    body = events.Voided(1, 2, ROLE_SUPERVISOR, "misdeal", bytes(16))
    assert "not under way" in only(desk.say(TABLE, body), Error).sentence
    assert desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, 4).role == 0


def test_it_pays_the_same_after_somebody_else_won_the_jackpot(desk: Desk) -> None:
    desk.start(OTHER, 1, "1A")
    desk.win(OTHER, 1, 1, s1A="four-aces")
    take_up(desk)
    committed = pay(desk)
    assert committed.lines[0].amount_cents == 800_075
    explained = explain(desk.store, committed.win_number)
    assert explained is not None
    assert explained.agrees
    assert audit(desk.store).sound


def test_a_restart_of_the_manager_in_between_changes_nothing(tmp_path: object) -> None:
    desk = Desk(f"{tmp_path}/ledger.db")
    desk.open_table(TABLE)
    desk.manager.restate_opening("main", 800_000)
    desk.start(TABLE, 1, *BETS)
    desk.end(TABLE, 1)
    desk.start(TABLE, 2, "1A")
    desk.end(TABLE, 2)
    take_up(desk)
    desk.restart()
    assert pay(desk).lines[0].amount_cents == 800_075
    desk.restart()
    assert desk.end(TABLE, 1).answers == []
    assert audit(desk.store).sound


def test_the_table_offers_the_managers_reasons() -> None:
    assert tuple(LateWinReason) == LATE_WIN_REASONS
