"""A table goes on under a new journal: who permits it, what is told, and what is compared then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.audit.audit import audit
from manager.intake.numbering import LOST_MAX, Numbering
from manager.intake.succession import PERMIT_MAX_MS, READ_AT_ONCE
from manager.ledger.corrections.reasons import Signed
from manager.ledger.engines.relations import SUCCESSIONS
from manager.ledger.errors import BookingRefused, LedgerError
from manager.ledger.store.entries import EventSource
from protocol.proof.lineage import EarlierPlace, recorded_anew
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


def test_a_long_round_is_told_once_and_in_its_order(desk: Desk) -> None:
    """Catches: records told twice, or none further back, where a round has more than one read."""
    desk.start(TABLE, 2, "1A")
    desk.claim(TABLE, 2, 1, s1A="four-aces")
    for offset_ms in range(100, 100 + 2 * READ_AT_ONCE + 5):
        desk.say(TABLE, events.LateChange(2, "3A", offset_ms % 2 == 0, offset_ms))
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    hello = new_journal(desk).hello()
    _state, *told_again = desk.manager.intake.greeted(desk.manager.units.greet(hello), hello)
    records = [each for each in told_again if isinstance(each, Event)]
    assert [each.kind for each in records[:2]] == [events.ROUND_START, events.CLAIM]
    # Of a spot only the newest news each way still matter.
    assert [each.body[4] for each in records[2:]] == [231, 232]


def test_a_second_permit_takes_the_place_of_one_that_nobody_used(desk: Desk) -> None:
    """Catches: an audit that takes the removed row for one that somebody deleted."""
    for reason in ("new disk", "another new disk"):
        desk.manager.units.permit_new_journal(UNIT, "", ANN, reason)
    assert len(desk.store.find(SUCCESSIONS, {})) == 1
    assert audit(desk.store).sound


@pytest.mark.parametrize(("unreadable", "lost"), [(0, 0), (3, 3), (LOST_MAX + 1, LOST_MAX)])
def test_as_many_numbers_may_be_missing_as_records_were_lost(
    desk: Desk, unreadable: int, lost: int
) -> None:
    """Catches: a unit that says how far ahead it may count."""
    numbering, place = Numbering(desk.manager.book), EarlierPlace(NEW_JOURNAL, 1, bytes(32))
    salvaged = recorded_anew({1: 2}, place, known=False)
    assert numbering.lost_max(desk.manager.units.get(UNIT), salvaged) == 0, "it lost nothing"
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    new_journal(desk)
    state = told(desk)
    at = (state.journal_id, state.last_sequence, state.round_number, state.claim_number)
    desk.say(TABLE, events.Restored(*at, state.counters, 0, unreadable))
    unit = desk.manager.units.get(UNIT)
    assert numbering.lost_max(unit, salvaged) == lost
    assert numbering.lost_max(unit, {1: 2}) == 0, "it was not salvaged"
    numbering.check_start(TABLE, 2, lost)
    numbering.check_start(TABLE, 2 + lost, lost)
    for number in (1, 3 + lost):
        with pytest.raises(BookingRefused):
            numbering.check_start(TABLE, number, lost)
    claims = [numbering.uses_up(TABLE, number, lost) for number in (0, 1, 1 + lost, 2 + lost)]
    assert claims == [False, True, True, False]


def test_a_unit_that_was_replaced_serves_the_table_no_more(desk: Desk) -> None:
    """Catches: the old board still taken for the table's, because it was its own before."""
    tables = desk.manager.book.tables
    assert tables.table_of_unit(UNIT) == TABLE
    desk.manager.units.permit_new_journal("UF-9", TABLE, ANN, "another unit")
    desk.manager.units.greet(PretendUnit("UF-9", NEW_JOURNAL).hello())
    assert tables.table_of_unit(UNIT) is None
    assert tables.table_of_unit("UF-9") == TABLE


def test_a_permit_that_nobody_has_used_has_ended_no_journal(desk: Desk) -> None:
    """Catches: a unit that is told of an earlier journal that never was."""
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    new_journal(desk)
    assert told(desk).earlier == ()
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "another new disk")
    assert told(desk).earlier == ()


def test_a_record_that_came_from_the_journal_before_is_not_taken_in_again(desk: Desk) -> None:
    """Catches: a salvaged round that is booked twice, or a copy's record taken for ours."""
    unit = desk.units[TABLE]
    place = EarlierPlace(unit.journal_id, unit.sequence, unit.digest)  # the end of round 1
    gone_on(desk)

    def again(origin: EarlierPlace) -> list[object]:
        body = recorded_anew(events.RoundEnd(1).to_body(), origin, known=False)
        return [*desk.deliver(TABLE, desk.units[TABLE].make_raw(events.ROUND_END, body)).answers]

    assert again(place) == []
    for other in (place._replace(digest=bytes(32)), place._replace(sequence=99)):
        (answer,) = again(other)
        assert isinstance(answer, Error)


def test_a_record_that_was_taken_in_from_any_of_its_journals_is_not_taken_in_again(
    desk: Desk,
) -> None:
    """Catches: a bet that went through two salvaged journals, and is booked a second time."""
    unit = desk.units[TABLE]
    known = EarlierPlace(unit.journal_id, unit.sequence, unit.digest)
    unknown = EarlierPlace(b"nobody-knows-it!", 3, bytes(32))
    gone_on(desk)
    now = desk.manager.units.get(UNIT)
    body = recorded_anew(events.RoundEnd(1).to_body(), known, known=False)
    twice = recorded_anew(body, unknown, known=False)
    successions = desk.manager.units.successions
    assert successions.has_taken(now, twice)
    other = recorded_anew(events.RoundEnd(1).to_body(), unknown, known=False)
    assert not successions.has_taken(now, other)


@pytest.mark.parametrize("unreadable", [0, 3])
def test_people_hear_of_every_step_to_a_new_journal(desk: Desk, unreadable: int) -> None:
    """Catches: a table that goes on under another disk, and nobody hears who let it."""
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    new_journal(desk)
    state = told(desk)
    place = (state.journal_id, state.last_sequence, state.round_number, state.claim_number)
    desk.say(TABLE, events.Restored(*place, state.counters, 2, unreadable))
    alarms = desk.manager.book.alarms.newest(9)[::-1]
    lost = ", 3 could not be read" if unreadable else ""
    assert [(each.code, each.sentence) for each in alarms] == [
        ("NEW_JOURNAL_PERMITTED", f"Ann permits a new journal of unit {UNIT}: new disk"),
        ("NEW_JOURNAL", f"Unit {UNIT} goes on with a new journal, as Ann permitted: new disk"),
        ("RESTORED", f"The table goes on in round 1: 2 records were salvaged{lost}."),
    ]
    assert {each.table_id for each in alarms} == {TABLE}


def test_a_new_journal_must_begin_exactly_where_it_was_told(desk: Desk) -> None:
    """Catches: a unit that goes on from a place of its own choice."""
    desk.manager.units.permit_new_journal(UNIT, "", ANN, "new disk")
    new_journal(desk)
    state = told(desk)
    right = events.Restored(
        state.journal_id,
        state.last_sequence,
        state.round_number,
        state.claim_number,
        state.counters,
        0,
        0,
    )
    more = state.counters._replace(wager_count=state.counters.wager_count + 1)
    for wrong in (
        replace(right, journal_id=bytes(16)),
        replace(right, last_sequence=right.last_sequence + 1),
        replace(right, round_number=right.round_number + 1),
        replace(right, claim_number=right.claim_number + 1),
        replace(right, counters=more),
    ):
        (refusal,) = desk.say(TABLE, wrong).answers
        assert isinstance(refusal, Error)
        assert "goes on from another place than it was told" in refusal.sentence
    assert desk.say(TABLE, right).answers == []
