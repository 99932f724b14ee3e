"""Alarms by cause: counted, ranked, acknowledged by name, and back when it happens again."""

from __future__ import annotations

import pytest

from manager.audit.audit import audit
from manager.ledger.alarm_causes import NOTE_MAX, AlarmCauses, Severity, severity_of
from manager.ledger.engines.relations import ALARM_ACKS, ALARMS
from manager.ledger.errors import LedgerError
from manager.ledger.store.changes import NEW, unpacked
from manager.ledger.store.entries import EventSource
from tests.kit.pretend_books import Books

BUS = ("SERVICE", "touch-1", "UF-1")


def record(books: Books, code: str, sentence: str, table: str = "touch-1", unit: str = "") -> None:
    books.manager.book.alarms.record(code, sentence, table, EventSource(unit))


@pytest.fixture
def causes(books: Books) -> AlarmCauses:
    return AlarmCauses(books.store, books.manager.book.alarms)


def test_fifty_faults_of_one_bus_are_one_cause_and_hide_no_fork(
    books: Books, causes: AlarmCauses
) -> None:
    """Catches: two faults whose rows pushed everything else off the page for good."""
    record(books, "FORK", "Two units claim to be one.", unit="UF-1")
    for number in range(50):
        record(books, "BUS", f"The bus was held, {number}.", unit="UF-1")
    for number in range(66):
        record(books, "IDENTITY_REFUSED", "A stranger knocked.", "", f"stranger-{number}")
    found = causes.all()
    assert [(each.key[0], each.count) for each in found] == [
        ("FORK", 1),
        ("IDENTITY_REFUSED", 66),
        ("BUS", 50),
    ]
    assert found[-1].last.sentence == "The bus was held, 49."


def test_each_acknowledgement_stands_beside_the_others(books: Books, causes: AlarmCauses) -> None:
    """Catches: a second one written over the first, which is open again after a restart."""
    for code in ("SERVICE", "DOOR", "BUS"):
        record(books, code, "Something.", unit="UF-1")
    for cause in causes.all():
        causes.acknowledge(cause.key, cause.last.number, f"Sue of {cause.key[0]}")
    again = AlarmCauses(books.store, books.manager.book.alarms)
    found = {each.key[0]: (each.is_open, each.acked_by) for each in again.all()}
    assert found == {code: (False, f"Sue of {code}") for code in ("SERVICE", "DOOR", "BUS")}


def test_a_note_is_as_long_as_it_may_be_and_not_longer(books: Books, causes: AlarmCauses) -> None:
    """Catches: a page's text of any length that the chain keeps for good."""
    record(books, "SERVICE", "Opened.", unit="UF-1")
    with pytest.raises(LedgerError, match=f"at most {NOTE_MAX} letters"):
        causes.acknowledge(BUS, 1, "Sue", "n" * (NOTE_MAX + 1))
    causes.acknowledge(BUS, 1, "Sue", "n" * NOTE_MAX)


def test_what_is_acknowledged_comes_back_when_it_happens_again(
    books: Books, causes: AlarmCauses
) -> None:
    record(books, "SERVICE", "Opened.", unit="UF-1")
    record(books, "SERVICE", "Closed.", unit="UF-1")
    (cause,) = causes.all()
    causes.acknowledge(BUS, cause.last.number, "Sue", "seen on camera")
    (cause,) = causes.all()
    assert (cause.is_open, cause.acked_by, cause.total) == (False, "Sue", 2)
    record(books, "SERVICE", "Opened.", unit="UF-1")
    (cause,) = causes.all()
    assert (cause.is_open, cause.count, cause.total) == (True, 1, 3)
    # Another manager, or this one after a restart, tells the same.
    again = AlarmCauses(books.store, books.manager.book.alarms)
    assert [(each.is_open, each.count, each.acked_by) for each in again.all()] == [(True, 1, "Sue")]
    assert audit(books.store).sound


def test_only_what_was_seen_is_acknowledged(books: Books, causes: AlarmCauses) -> None:
    record(books, "SERVICE", "Opened.", unit="UF-1")
    seen = causes.all()[0].last.number
    record(books, "SERVICE", "Opened again.", unit="UF-1")
    causes.acknowledge(BUS, seen, "Sue")
    (cause,) = causes.all()
    assert (cause.is_open, cause.count) == (True, 1)
    for key, number in ((BUS, seen), (BUS, 99), (("FORK", "", ""), 1)):
        with pytest.raises(LedgerError, match="acknowledged already"):
            causes.acknowledge(key, number, "Bob")


def test_every_code_has_a_rank() -> None:
    assert severity_of("FORK") is Severity.CRITICAL
    assert severity_of("ENROLLED") is Severity.NOTICE
    assert severity_of("SOMETHING_NEW") is Severity.WARNING


def test_strangers_are_one_counted_row_of_the_history(books: Books) -> None:
    """Catches: 300 anonymous tries after which the history no longer shows a fork."""
    record(books, "FORK", "Two of them.", unit="UF-2")
    for number in range(300):
        record(books, "UNKNOWN_UNIT", f"Unit stranger-{number} is not known.", "", f"s-{number}")
    record(books, "UNKNOWN_UNIT", "Unit UF-9 is not known.", "touch-1", "UF-9")
    found = books.manager.view.alarm_history("")
    assert [(each["code"], each["table"], each["count"]) for each in found] == [
        ("UNKNOWN_UNIT", "touch-1", 1),
        ("UNKNOWN_UNIT", "", 300),
        ("FORK", "touch-1", 1),
    ]
    assert found[1]["text"] == "Unit stranger-299 is not known."


def test_every_alarm_is_in_the_chain(books: Books) -> None:
    """Catches: an alarm that somebody took out of the ledger, or changed in it."""
    record(books, "FORK", "Two of them.", unit="UF-2")
    recorded = [each for each, _ in books.store.recorded()][-1]
    ((relation, _, mask, values),) = unpacked(recorded.changes, recorded.commit_ms)
    assert (relation, mask) == (ALARMS, NEW)
    assert values[-2:] == ("FORK", "Two of them.")


def test_the_history_is_searched(books: Books) -> None:
    record(books, "SERVICE", "100 % of it.", unit="UF-1")
    record(books, "FORK", "Two of them.", unit="UF-2")
    view = books.manager.view
    assert [each["code"] for each in view.alarm_history("")] == ["FORK", "SERVICE"]
    assert [each["code"] for each in view.alarm_history("uf-2")] == ["FORK"]
    assert [each["code"] for each in view.alarm_history("%")] == ["SERVICE"]
    assert view.alarm_history("nothing like it") == []


def test_who_acknowledged_what_stands_in_the_chain(books: Books, causes: AlarmCauses) -> None:
    """Catches: an alarm that somebody put away, and of whom nobody can tell."""
    for code in ("SERVICE", "DOOR"):
        record(books, code, "Something.", unit="UF-1")
    for cause in causes.all()[::-1]:
        causes.acknowledge(cause.key, cause.last.number, "Sue", "I looked.")
    rows = books.store.find(ALARM_ACKS, {})
    assert [(row[0], row[1], row[4]) for row in rows] == [(1, "SERVICE", 1), (2, "DOOR", 2)]
    acts = [each for each, _ in books.store.recorded() if each.kind == "ACT"]
    assert [each.sentence for each in acts] == [
        "Sue acknowledged SERVICE up to alarm 1.",
        "Sue acknowledged DOOR up to alarm 2.",
    ]
    assert {each.reference.table_id for each in acts} == {"touch-1"}
    assert '"note":"I looked."' in acts[0].detail_text


def test_what_came_after_the_alarm_that_was_seen_is_open_since_then(
    books: Books, causes: AlarmCauses
) -> None:
    for number in range(3):
        record(books, "SERVICE", f"Opened, {number}.", unit="UF-1")
        books.clock.ms += 60_000
    newest = causes.all()[0].last
    causes.acknowledge(BUS, newest.number - 1, "Sue")
    (cause,) = causes.all()
    assert (cause.is_open, cause.count, cause.first_ms) == (True, 1, newest.commit_ms)
