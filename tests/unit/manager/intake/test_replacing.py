"""A dead unit is locked and another one permitted in one step, and both are told truly."""

from __future__ import annotations

import json

import pytest

from manager.booking import Booking
from manager.intake.replacing import REPLACE_UNIT
from manager.intake.succession import PERMIT_MAX_MS
from manager.ledger.corrections.reasons import Signed
from manager.ledger.engines.relations import SUCCESSIONS
from manager.ledger.errors import LedgerError, NeedsTwo
from protocol.wire.errors import ProtocolError
from tests.kit.pretend_units import Desk, PretendUnit

TABLE, NEW = "touch-1", "UF-9"
OLD = f"UF-{TABLE}"


def replace_unit(desk: Desk, **words: str) -> str:
    request = {"command": REPLACE_UNIT, "unit": NEW, "table": TABLE, "operator": "Pat"}
    booking = Booking(desk.manager.book, desk.manager.units)
    return booking.book({**request, "reason": "The board is dead.", **words})


def successor() -> PretendUnit:
    return PretendUnit(NEW, b"another-journal!")


def test_the_new_unit_may_come_and_the_old_one_may_not(desk: Desk) -> None:
    """Catches: two units that both speak for one table."""
    successions = desk.manager.units.successions
    assert (successions.heir_of(TABLE), successions.permitted_table(NEW)) == ("", "")
    replace_unit(desk)
    assert (successions.heir_of(TABLE), successions.permitted_table(NEW)) == (NEW, TABLE)
    with pytest.raises(ProtocolError, match=f"unit {NEW} takes its table over"):
        desk.manager.units.greet(desk.units[TABLE].hello())
    assert successions.replaced_ids() == [], "nobody has taken over yet"
    assert desk.manager.units.greet(successor().hello()).table_id == TABLE
    assert successions.replaced_ids() == desk.manager.units.replaced_ids() == [OLD]
    assert (successions.heir_of(TABLE), successions.permitted_table(NEW)) == ("", "")


def test_a_new_disk_replaces_no_unit(desk: Desk) -> None:
    """Catches: a unit that goes on at its own table, and whose certificates are ended."""
    units = desk.manager.units
    units.permit_new_journal(OLD, "", Signed("Pat"), "new disk")
    units.greet(PretendUnit(OLD, b"another-journal!").hello())
    assert units.successions.replaced_ids() == []


def test_whoever_did_not_come_within_an_hour_is_no_heir(desk: Desk) -> None:
    replace_unit(desk)
    (permitted_ms,) = [row[5] for row in desk.store.find(SUCCESSIONS, {})]
    desk.clock.ms = permitted_ms + PERMIT_MAX_MS - 2  # the clock adds one when it is read
    assert desk.manager.units.successions.heir_of(TABLE) == NEW
    assert desk.manager.units.successions.heir_of(TABLE) == ""


def test_who_did_it_and_why_is_in_the_chain(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.end(TABLE, 1)
    replace_unit(desk, second="Kim", reason=" The board is dead. ")
    (act,) = [each for each, _ in desk.store.recorded() if each.kind == "ACT"]
    sentence = f"Unit {NEW} takes table {TABLE} over from unit {OLD}"
    assert act.sentence == f"Pat and Kim: {sentence}: The board is dead."
    assert json.loads(act.detail_text) == {
        "who": "Pat",
        "second": "Kim",
        "act": REPLACE_UNIT,
        "unit": NEW,
        "before": OLD,
        "reason": "The board is dead.",
        "last_sequence": "2",
    }
    alarm = desk.manager.book.alarms.newest(1)[0]
    assert (alarm.code, alarm.sentence, alarm.table_id) == ("REPLACED", act.sentence, TABLE)


def test_in_a_game_it_takes_two_people(desk: Desk) -> None:
    """Catches: one person who takes a table with bets on it to another unit."""
    desk.start(TABLE, 1, "1A")
    with pytest.raises(NeedsTwo, match="Replacing a unit in a game"):
        replace_unit(desk)
    assert desk.alarm_codes() == []
    answer = replace_unit(desk, second="Kim")
    assert "Game 1 goes on there with its bets and claims.\n" in answer
    assert "records up to number 1." in answer


def test_between_games_one_person_is_enough_and_no_game_goes_on(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.end(TABLE, 1)
    answer = replace_unit(desk)
    assert answer.startswith(f"Unit {NEW} may take table {TABLE} over, once, within an hour.\nUnit")
    assert "Game" not in answer


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"table": "touch-9"}, "Table touch-9 has no unit that could be replaced."),
        ({"unit": OLD}, "serves table touch-1 already"),
        ({"unit": "  "}, "serves table touch-1 already"),
        ({"reason": ""}, "A permit needs a reason."),
    ],
)
def test_what_makes_no_sense_locks_nobody(desk: Desk, words: dict[str, str], sentence: str) -> None:
    """Catches: a table whose only unit is locked by a slip."""
    with pytest.raises(LedgerError, match=sentence):
        replace_unit(desk, **words)
    assert desk.manager.units.greet(desk.units[TABLE].hello()).unit_id == OLD
    assert desk.alarm_codes() == []
