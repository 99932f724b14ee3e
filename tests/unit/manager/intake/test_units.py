"""Which unit is let in at its table: by its history here, and by what it was told of the ledger."""

from __future__ import annotations

import dataclasses

import pytest

from manager.ledger.corrections.reasons import Signed
from manager.ledger.corrections.restore import accept_restore
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import EventSource
from manager.setup.open_table import open_table
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.messages import Hello
from protocol.wire.rows import TailPlace
from tests.kit.pretend_units import Desk, PretendUnit, load_paytable, table_toml

TWO = Signed("Ann", "Bob", "the disk burnt")


def refused(desk: Desk, hello: Hello) -> ErrorCode:
    with pytest.raises(ProtocolError) as problem:
        desk.manager.units.greet(hello)
    return problem.value.code


def ahead(desk: Desk, era: int = 0) -> Hello:
    """A unit that had two more events acknowledged than this ledger holds."""
    unit = desk.units["touch-1"]
    unit.sequence += 2
    hello = unit.hello(acked_sequence=unit.sequence)
    return dataclasses.replace(hello, tail=(TailPlace(era, 99),))


def test_a_ledger_from_a_backup_gets_its_units_back_when_two_people_said_so(desk: Desk) -> None:
    """Catches: units that a restored ledger never lets in, and ones that it lets in unasked."""
    hello = ahead(desk)
    assert refused(desk, hello) is ErrorCode.TAIL
    accept_restore(desk.manager.book, TWO)
    assert desk.manager.units.greet(hello).unit_id == "UF-touch-1"


def test_who_was_told_after_the_restore_has_no_excuse(desk: Desk) -> None:
    accept_restore(desk.manager.book, TWO)
    assert refused(desk, ahead(desk, era=1)) is ErrorCode.TAIL


def test_a_unit_that_serves_no_table_is_not_known(desk: Desk) -> None:
    assert refused(desk, PretendUnit("UF-nobody").hello()) is ErrorCode.UNKNOWN_UNIT
    assert desk.alarm_codes() == ["UNKNOWN_UNIT"]


def test_a_unit_never_seen_must_not_hold_acknowledgements_of_another_ledger() -> None:
    desk = Desk()
    open_table(desk.manager.book, table_toml(), lambda count: bytes(count), load_paytable)
    unit = PretendUnit("UF-touch-1", sequence=4)
    assert refused(desk, unit.hello(acked_sequence=4)) is ErrorCode.TAIL
    accept_restore(desk.manager.book, TWO)
    assert desk.manager.units.greet(unit.hello(acked_sequence=4)).last_sequence == 0


def test_a_journal_that_went_back_or_is_another_one_is_a_fork(desk: Desk) -> None:
    """Only the unit whose own journal went back is locked: the other one may be a mistake."""
    unit = desk.units["touch-1"]
    other = dataclasses.replace(unit.hello(), journal_id=b"another-journal!")
    assert refused(desk, other) is ErrorCode.FORK
    assert not desk.manager.units.get("UF-touch-1").locked
    desk.start("touch-1", 1, "2A")
    back = dataclasses.replace(unit.hello(), last_sequence=0)
    assert refused(desk, back) is ErrorCode.FORK
    assert desk.manager.units.get("UF-touch-1").locked
    assert refused(desk, unit.hello()) is ErrorCode.LOCKED


def test_a_locked_unit_is_released_by_two_people_with_a_reason_and_once(desk: Desk) -> None:
    units = desk.manager.units
    with pytest.raises(LedgerError, match="not locked"):
        units.release("UF-touch-1", "looked into it", TWO)
    units.lock(units.get("UF-touch-1"), "A copy speaks.", EventSource("UF-touch-1"))
    for reason, signed in (("looked into it", Signed("Ann")), ("  ", TWO)):
        with pytest.raises(LedgerError):
            units.release("UF-touch-1", reason, signed)
        assert units.get("UF-touch-1").locked
    units.release("UF-touch-1", "looked into it", TWO)
    assert not units.get("UF-touch-1").locked
    assert desk.alarm_codes() == ["FORK", "RELEASED"]


def test_a_permit_for_a_new_journal_names_a_table_that_is_there(desk: Desk) -> None:
    units = desk.manager.units
    desk.open_table("touch-2")
    refusals = {
        ("UF-touch-1", "", ""): "needs a reason",
        ("UF-new", "", "new board"): "serves no table here",
        ("UF-new", "touch-9", "new board"): "no table touch-9",
        ("UF-touch-1", "touch-2", "new board"): "serves table touch-1",
    }
    for (unit_id, table_id, reason), says in refusals.items():
        with pytest.raises(LedgerError, match=says):
            units.permit_new_journal(unit_id, table_id, Signed("Ann"), reason)
    assert units.permit_new_journal("UF-touch-1", "", Signed("Ann"), "new disk") == "touch-1"
    assert units.permit_new_journal("UF-new", "touch-2", Signed("Ann"), "new board") == "touch-2"
    assert units.table_for("UF-new") == "touch-2"
    assert units.table_for("UF-touch-1") == "touch-1"
    assert units.table_for("UF-nobody") is None


def test_at_the_table_of_a_locked_unit_one_person_permits_nothing(desk: Desk) -> None:
    units = desk.manager.units
    units.lock(units.get("UF-touch-1"), "A copy speaks.", EventSource("UF-touch-1"))
    with pytest.raises(LedgerError, match="second person"):
        units.permit_new_journal("UF-touch-1", "", Signed("Ann"), "new disk")
    assert units.permit_new_journal("UF-touch-1", "", TWO, "new disk") == "touch-1"


def test_what_a_unit_recorded_before_its_hello_is_told_apart(desk: Desk) -> None:
    unit, units = desk.units["touch-1"], desk.manager.units
    desk.start("touch-1", 1, "2A")
    units.greet(unit.hello())
    assert units.was_said_before_hello(EventSource("UF-touch-1", 1))
    assert not units.was_said_before_hello(EventSource("UF-touch-1", 2))
    assert not units.was_said_before_hello(EventSource("UF-nobody", 1))
    with pytest.raises(LedgerError, match="no unit UF-nobody"):
        units.get("UF-nobody")
    assert units.find("UF-nobody") is None


@pytest.mark.parametrize(
    ("signed", "sentence"),
    [
        (Signed("Ann", "", "the disk burnt"), "second person"),
        (Signed("Ann", "Ann", "the disk burnt"), "two different people"),
        (Signed("Ann", "Bob", "  "), "needs a note that says why"),
    ],
)
def test_a_backup_is_not_gone_on_from_by_one_person_or_without_a_word(
    desk: Desk, signed: Signed, sentence: str
) -> None:
    """Catches: one person who makes every unit believe another ledger."""
    before = desk.store.tail()
    with pytest.raises(LedgerError, match=sentence):
        accept_restore(desk.manager.book, signed)
    assert desk.store.tail() == before
    assert refused(desk, ahead(desk)) is ErrorCode.TAIL


def test_everybody_hears_that_the_ledger_goes_on_from_a_backup(desk: Desk) -> None:
    assert [accept_restore(desk.manager.book, TWO) for _ in range(2)] == [1, 2]
    assert desk.alarm_codes() == ["LEDGER_RESTORED"] * 2
    sentence = desk.manager.book.alarms.newest(1)[0].sentence
    assert "Ann and Bob" in sentence
    assert "the disk burnt" in sentence
