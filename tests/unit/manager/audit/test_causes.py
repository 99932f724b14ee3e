"""Every bet, win and void round is booked as its unit said it, and every entry has its cause.

Each forgery is chained anew to its end, so that no digest is wrong: only what the unit's own chain
says stands against it. Mutations that were tried by hand, each caught here: no event held against
its entries; the cents, the sensors or the round not compared; a refusal believed without an alarm
of its own step; a win not held against what was paid.
"""

from __future__ import annotations

from collections.abc import Callable

import cbor2
import pytest

from manager.audit.audit import audit
from manager.audit.causes import CauseAudit
from manager.audit.fold import Fold
from manager.ledger.corrections.reasons import ReversalReason
from manager.ledger.corrections.replacement import record_instead
from manager.ledger.corrections.reversal import reverse_win
from manager.ledger.engines.relations import ALARMS, NUMBERS, WIN_LINES, WINS, Relation
from manager.ledger.store.chain import NO_EVENT, Recorded, Taken
from manager.ledger.store.changes import NEW
from manager.ledger.store.entries import BY_THE_MANAGER
from manager.ledger.wins import METHOD_OPERATOR
from protocol.wire import events
from tests.kit.pretend_units import Desk, desk_with_a_win
from tests.kit.small_ledger import TWO

Line = tuple[Recorded, Taken]
Change = Callable[[Line], Line]


@pytest.fixture(scope="module")
def log() -> list[Line]:
    """A win, a void round, and a round that was refused because its number is not the next."""
    desk = desk_with_a_win()
    desk.start("touch-1", 2, "1A", "3A")
    desk.void("touch-1", 2)
    desk.start("touch-1", 99, "1A")
    return lines_of(desk)


def lines_of(desk: Desk) -> list[Line]:
    assert audit(desk.store).sound, audit(desk.store).sentence
    return [(recorded, taken) for recorded, taken, _ in desk.store.kept()]


def problem_of(log: list[Line], is_export: bool = False) -> str:
    fold = Fold()
    causes = CauseAudit(fold)
    for recorded, taken in log:
        fold.take(recorded, None if is_export else taken)
        problem = causes.take(recorded, None if is_export else taken)
        if problem:
            return f"{recorded.kind} {problem}"
    return causes.end()


def place_of(log: list[Line], kind: str, last: bool = False) -> int:
    places = [at for at, (recorded, _) in enumerate(log) if recorded.kind == kind]
    return places[-1 if last else 0]


def changed(log: list[Line], at: int, change: Change) -> list[Line]:
    return [*log[:at], change(log[at]), *log[at + 1 :]]


def entry(**values: object) -> Change:
    return lambda line: (line[0]._replace(**values), line[1])


def told_by(line: Line, relation: Relation) -> tuple[list[object], int]:
    """What a transaction changed, and where the values of its first new row of these begin."""
    told = cbor2.loads(line[0].changes)
    begins = (at for at in range(len(told)) if told[at : at + 2] == [NUMBERS[relation.name], NEW])
    return told, next(begins) + 2


def of_event(log: list[Line], kind: int) -> int:
    return next(at for at, (_, taken) in enumerate(log) if taken[1] == kind)


def test_a_sound_log_and_an_export_of_it_have_every_cause(log: list[Line]) -> None:
    assert problem_of(log) == ""
    assert problem_of(log, is_export=True) == ""


@pytest.mark.parametrize("part", ["cents", "sensor", "round", "table"])
def test_a_bet_is_booked_as_its_table_said_it(log: list[Line], part: str) -> None:
    at = place_of(log, "WAGER")
    recorded = log[at][0]
    (account, amount), (other, moved), *rest = recorded.postings
    if part == "cents":
        values = {"postings": ((account, amount - 1), (other, moved + 1), *rest)}
    else:
        names = {"sensor": {"sensor": "2A 5A 6A"}, "round": {"round_number": 7}}
        reference = recorded.reference._replace(**names.get(part, {"table_id": "touch-9"}))
        values = {"reference": reference}
    said = "WAGER takes in a ROUND_START that is neither booked as it says nor refused"
    assert problem_of(changed(log, at, entry(**values))) == said


def test_a_round_that_is_left_out_of_the_books_is_named(log: list[Line]) -> None:
    at = place_of(log, "WAGER")
    left_out = entry(kind="EVENT", postings=(), reference=log[0][0].reference)
    said = "EVENT takes in a ROUND_START that is neither booked as it says nor refused"
    assert problem_of(changed(log, at, left_out)) == said


def test_a_refusal_needs_an_alarm_of_its_own_step(log: list[Line]) -> None:
    """Catches: the alarm of another event, or one that refuses nothing, believed as a refusal."""
    at = len(log) - 1
    told, begin = told_by(log[at], ALARMS)
    said = "EVENT takes in a ROUND_START that is neither booked as it says nor refused"
    for column, value in (("event_sequence", 1), ("unit_id", "UF-9"), ("code", "STOPPED")):
        other = [*told]
        other[begin + ALARMS.place(column)] = value
        assert problem_of(changed(log, at, entry(changes=cbor2.dumps(other)))) == said
    assert problem_of(changed(log, at, entry(changes=b""))) == said


@pytest.mark.parametrize(
    ("kind", "cause"),
    [("WAGER", events.ROUND_START), ("AWARD", events.COMMIT), ("VOIDED", events.VOIDED)],
)
def test_an_entry_needs_an_event_that_can_cause_it(log: list[Line], kind: str, cause: int) -> None:
    """Said of causes alone: the fold names an event that another one took the place of."""
    fold = Fold()
    at = of_event(log, cause)
    for recorded, taken in log[: at + 1]:
        fold.take(recorded, taken)
    causes = CauseAudit(fold)
    first = next(each for each in range(at + 1) if log[each][0].origin == log[at][0].origin)
    for recorded, _ in log[first:at]:
        assert causes.take(recorded, NO_EVENT) == ""
    journal, _, body = log[at][1]
    said = f"keeps an event that cannot cause a {log[first][0].kind}"
    assert log[first][0].kind == kind
    assert causes.take(log[at][0], (journal, events.HAND, body)) == said


def slipped_in(log: list[Line], kind: str) -> list[Line]:
    """The log, and at its end an entry of this kind once more, as if by somebody at the manager."""
    again = log[place_of(log, kind)][0]._replace(origin=BY_THE_MANAGER, changes=b"")
    if kind == "VOIDED":
        again = again._replace(postings=())  # a second time there is too little on the meter
    return [*log, (again._replace(commit_ms=log[-1][0].commit_ms), NO_EVENT)]


@pytest.mark.parametrize("kind", ["WAGER", "VOIDED"])
@pytest.mark.parametrize("is_export", [False, True])
def test_nobody_at_the_manager_bets(log: list[Line], kind: str, is_export: bool) -> None:
    said = f"{kind} names no event, and happens at a table only"
    assert problem_of(slipped_in(log, kind), is_export) == said


def test_an_adjustment_is_no_units_doing(log: list[Line]) -> None:
    forged = changed(log, place_of(log, "VOIDED"), entry(kind="ADJUSTMENT"))
    assert problem_of(forged) == "ADJUSTMENT names an event, which cannot cause it"


def test_a_commit_is_a_win_or_refused(log: list[Line]) -> None:
    first, last = place_of(log, "AWARD"), of_event(log, events.COMMIT)
    recorded, taken = log[last]
    plain = recorded._replace(kind="EVENT", postings=(), changes=b"")
    forged = [*log[:first], (plain, taken), *log[last + 1 :]]
    said = "EVENT takes in a COMMIT that is neither booked as it says nor refused"
    assert problem_of(forged) == said


@pytest.mark.parametrize("is_export", [False, True])
def test_a_win_says_what_its_entries_paid(log: list[Line], is_export: bool) -> None:
    """Catches: a win's line and what the chain tells of it changed together, by a cent."""
    at = of_event(log, events.COMMIT)
    told, begin = told_by(log[at], WIN_LINES)
    cents = begin + WIN_LINES.place("amount_cents")
    told[cents] = int(str(told[cents])) + 1
    forged = changed(log, at, entry(changes=cbor2.dumps(told)))
    kind = log[at][0].kind
    said = f"{kind} records win 1 with another sum than its entries paid"
    assert problem_of(forged, is_export) == said


@pytest.mark.parametrize("is_export", [False, True])
def test_what_is_paid_has_a_win(log: list[Line], is_export: bool) -> None:
    """At its step's end, or at the ledger's."""
    forged = slipped_in(log, "ENVY")  # from the tray, which no meter can forbid
    said = "pays claim 1 of table touch-1, and no win tells of it"
    assert problem_of(forged, is_export) == said
    note = forged[-1][0]._replace(kind="NOTE", postings=(), changes=cbor2.dumps([]))
    assert problem_of([*forged, (note, NO_EVENT)], is_export) == f"NOTE {said}"


def test_a_void_round_gives_every_bet_back(log: list[Line]) -> None:
    at = place_of(log, "VOIDED")
    one = log[at][0].reference._replace(sensor="1A")
    said = "VOIDED takes in a VOIDED that is neither booked as it says nor refused"
    assert problem_of(changed(log, at, entry(reference=one))) == said


def test_two_people_stand_for_a_win_that_no_table_told_of() -> None:
    """Recorded again by two people, it is sound; the same by nobody is named."""
    desk = desk_with_a_win()
    reverse_win(desk.manager.book, 1, ReversalReason.WRONG_HAND, TWO)
    record_instead(desk.manager.book, 1, TWO, None)
    log = lines_of(desk)
    at = len(log) - 1
    told, begin = told_by(log[at], WINS)
    assert told[begin + WINS.place("method")] == METHOD_OPERATOR
    told[begin + WINS.place("method")] = 2
    forged = changed(log, at, entry(changes=cbor2.dumps(told)))
    assert "records win 2, which neither a table nor two people stand for" in problem_of(forged)
