"""A table goes on under a new journal: who permits it, what is told, and what is compared then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.intake.succession import PERMIT_MAX_MS
from manager.ledger.corrections.reasons import Signed
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import EventSource
from protocol.wire import events
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.messages import Error, Event, State
from protocol.wire.rows import Counters
from tests.kit.pretend_units import Desk, PretendUnit

TABLE = "touch-1"
UNIT = f"UF-{TABLE}"
ANN = Signed("Ann")
NEW_JOURNAL = b"another-journal!"


@pytest.fixture
def desk() -> Desk:
    """A table that has played a round."""
    desk = Desk()
    desk.open_table(TABLE)
    desk.start(TABLE, 1, "1A", "2A")
    desk.end(TABLE, 1)
    return desk


def new_journal(desk: Desk) -> PretendUnit:
    unit = desk.units[TABLE] = PretendUnit(UNIT, NEW_JOURNAL)
    return unit


def told(desk: Desk) -> State:
    unit = desk.manager.units.greet(desk.units[TABLE].hello())
    state = desk.manager.intake.greeted(unit, desk.units[TABLE].hello())[0]
    assert isinstance(state, State)
    return state


def gone_on(desk: Desk) -> Counters:
    """The unit has recorded where its new journal begins."""
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    new_journal(desk)
    state = told(desk)
    place = (state.journal_id, state.last_sequence, state.round_number, state.claim_number)
    desk.say(TABLE, events.Restored(*place, state.counters, 0, 0))
    return state.counters


def test_a_restored_unit_is_compared_again(desk: Desk) -> None:
    """Catches: the restored mark not noted. The counters would never be compared again."""
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    new_journal(desk)
    state = told(desk)
    unit = desk.manager.units.get(UNIT)
    assert desk.manager.intake.counters_for(unit, desk.units[TABLE].hello()) == ()
    place = (state.journal_id, state.last_sequence, state.round_number, state.claim_number)
    desk.say(TABLE, events.Restored(*place, state.counters, 0, 0))
    unit = desk.manager.units.get(UNIT)
    assert desk.manager.intake.counters_for(unit, desk.units[TABLE].hello()) == (state.counters,)
    wrong = state.counters._replace(wager_count=state.counters.wager_count + 1)
    hello = replace(desk.units[TABLE].hello(), counters=(wrong,))
    (problem,) = desk.manager.intake.greeted(unit, hello)
    assert isinstance(problem, Error)
    assert problem.code == ErrorCode.COUNTERS
    right = replace(hello, counters=(state.counters,))
    assert desk.manager.intake.greeted(unit, right) == []


def test_where_the_table_stands_is_told_until_it_is_recorded(desk: Desk) -> None:
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    new_journal(desk)
    assert told(desk) == told(desk)
    assert (told(desk).round_number, told(desk).counters.wager_count) == (1, 2)


def test_where_the_table_stands_is_told_to_nobody_else(desk: Desk) -> None:
    counters = gone_on(desk)
    again = desk.say(TABLE, events.Restored(NEW_JOURNAL, 0, 1, 0, counters, 0, 0))
    (refusal,) = again.answers
    assert isinstance(refusal, Error)
    assert "nobody told it to" in refusal.sentence


def test_a_permit_is_for_one_unit_one_use_and_an_hour(desk: Desk) -> None:
    units = desk.manager.units
    units.permit_new_journal(UNIT, "", ANN, "new disk")
    assert units.table_for(UNIT) == TABLE
    assert units.successions.permitted_table("UF-other") == ""
    desk.clock.ms += PERMIT_MAX_MS
    assert units.successions.permitted_table(UNIT) == ""
    new_journal(desk)
    with pytest.raises(ProtocolError) as caught:
        units.greet(desk.units[TABLE].hello())
    assert caught.value.code == ErrorCode.FORK


def test_a_used_permit_lets_no_third_journal_in(desk: Desk) -> None:
    gone_on(desk)
    third = PretendUnit(UNIT, b"a-third-journal!")
    with pytest.raises(ProtocolError) as caught:
        desk.manager.units.greet(third.hello())
    assert caught.value.code == ErrorCode.FORK


def test_a_journal_with_a_history_is_no_new_one(desk: Desk) -> None:
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    unit = new_journal(desk)
    unit.sequence = 4
    with pytest.raises(ProtocolError):
        desk.manager.units.greet(unit.hello(acked_sequence=3))


@pytest.mark.parametrize(
    ("unit_id", "table_id", "reason", "sentence"),
    [
        (UNIT, "", "", "A permit needs a reason."),
        ("UF-9", "", "why", "Unit UF-9 serves no table here"),
        (UNIT, "touch-9", "why", "There is no table touch-9."),
        (UNIT, "touch-2", "why", f"Unit {UNIT} serves table {TABLE}."),
    ],
)
def test_a_permit_without_sense_is_refused(
    desk: Desk, unit_id: str, table_id: str, reason: str, sentence: str
) -> None:
    desk.open_table("touch-2")
    with pytest.raises(LedgerError, match=sentence):
        desk.manager.units.permit_new_journal(unit_id, table_id, ANN, reason)
    assert "NEW_JOURNAL_PERMITTED" not in desk.alarm_codes()


def test_going_on_at_the_table_of_a_locked_unit_takes_two_people(desk: Desk) -> None:
    units = desk.manager.units
    with desk.store.transaction():
        units.lock(units.get(UNIT), "It forked.", EventSource(UNIT))
    with pytest.raises(LedgerError, match="second person"):
        units.permit_new_journal(UNIT, "", ANN, "a copy spoke for it")
    units.permit_new_journal(UNIT, "", Signed("Ann", "Bob"), "a copy spoke for it")
    assert units.table_for(UNIT) == TABLE


def test_what_a_round_is_made_of_is_told_whatever_was_recorded_between(desk: Desk) -> None:
    """Catches: the search back to the START ends at the first record that is none of the round.

    And: it goes on beyond the START, into the round before.
    """
    desk.say(TABLE, events.LateChange(1, "4A", True, 100))
    desk.start(TABLE, 2, "1A")
    desk.claim(TABLE, 2, 1, s1A="four-aces")
    desk.say(TABLE, events.Refused("END", "A claim is open."))
    desk.say(TABLE, events.LateChange(2, "3A", True, 100))
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    hello = new_journal(desk).hello()
    state, *round_events = desk.manager.intake.greeted(desk.manager.units.greet(hello), hello)
    kinds = [each.kind for each in round_events if isinstance(each, Event)]
    assert kinds == [events.ROUND_START, events.CLAIM, events.LATE_CHANGE]
    assert isinstance(state, State)
    assert state.event_count == 3


def test_a_unit_that_was_replaced_serves_the_table_no_more(desk: Desk) -> None:
    """Catches: the old board still taken for the table's, because it was its own before."""
    tables = desk.manager.book.tables
    assert tables.table_of_unit(UNIT) == TABLE
    desk.manager.units.permit_new_journal("UF-9", TABLE, ANN, "another unit")
    desk.manager.units.greet(PretendUnit("UF-9", NEW_JOURNAL).hello())
    assert tables.table_of_unit(UNIT) is None
    assert tables.table_of_unit("UF-9") == TABLE
