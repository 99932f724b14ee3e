"""Each event once: repeats, gaps, forks, who may speak, and a manager that restarts at any step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from manager.audit.audit import audit
from manager.ledger.corrections.reasons import Signed
from manager.ledger.engines.relations import Relation, Row
from manager.ledger.errors import LedgerError
from protocol.numbers import ROLE_EXECUTIVE, ROLE_SUPERVISOR
from protocol.wire import events
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.messages import Award, Committed, Error, Event
from protocol.wire.rows import ClaimedHand
from tests.kit.pretend_units import (
    EXECUTIVE_ACCOUNT,
    SUPERVISOR_ACCOUNT,
    Desk,
    PretendUnit,
    awarded,
    only,
    settled,
    table_toml,
)

TABLE = "touch-1"


# -- exactly once --------------------------------------------------------------------------------


def test_a_repeated_event_is_acknowledged_and_has_no_effect(desk: Desk) -> None:
    event = desk.units[TABLE].make(events.RoundStart(1, ("1A", "2A"), (), (), 200))
    first = desk.deliver(TABLE, event)
    entries = desk.entries()
    again = desk.deliver(TABLE, event)
    assert first.acked_sequence == again.acked_sequence == 1
    assert again.answers == []
    assert desk.entries() == entries


def test_an_old_event_repeated_is_acknowledged_up_to_the_newest(desk: Desk) -> None:
    first = desk.units[TABLE].make(events.RoundStart(1, ("1A",), (), (), 100))
    desk.deliver(TABLE, first)
    desk.end(TABLE, 1)
    assert desk.deliver(TABLE, first).acked_sequence == 2


def test_a_whole_batch_repeated_changes_nothing(desk: Desk) -> None:
    unit = desk.units[TABLE]
    bodies = [
        events.RoundStart(1, ("1A",), (), (), 100),
        events.RoundEnd(1),
        events.RoundStart(2, (), ()),
    ]
    batch = [(unit.unit_id, unit.make(body)) for body in bodies]
    desk.manager.intake.take(batch)
    entries = desk.entries()
    assert [o.acked_sequence for o in desk.manager.intake.take(batch)] == [3, 3, 3]
    assert desk.entries() == entries
    assert audit(desk.store).sound


def test_a_gap_is_refused_and_not_taken_in(desk: Desk) -> None:
    unit = desk.units[TABLE]
    unit.make(events.RoundStart(1, ("1A",), (), (), 100))  # never delivered
    outcome = desk.say(TABLE, events.RoundEnd(1))
    assert outcome.problem is not None
    assert outcome.problem.code == ErrorCode.GAP
    assert (outcome.acked_sequence, desk.manager.units.get(unit.unit_id).last_sequence) == (0, 0)
    assert desk.alarm_codes() == ["GAP"]


def test_a_unit_that_keeps_knocking_fills_no_list(desk: Desk) -> None:
    desk.units[TABLE].make(events.RoundEnd(1))
    event = desk.units[TABLE].make(events.RoundEnd(1))
    for _ in range(5):
        desk.deliver(TABLE, event)
    assert desk.alarm_codes() == ["GAP"]


def forked(event: Event) -> Event:
    return replace(event, digest=bytes(32))


@pytest.mark.parametrize("known", [True, False], ids=["a number seen before", "the next number"])
def test_a_fork_locks_the_unit_until_it_is_released(desk: Desk, known: bool) -> None:
    event = desk.units[TABLE].make(events.RoundStart(1, ("1A",), (), (), 100))
    if known:
        desk.deliver(TABLE, event)
    entries = desk.entries()
    outcome = desk.deliver(TABLE, forked(event))
    assert outcome.problem is not None
    assert outcome.problem.code == ErrorCode.FORK
    assert desk.entries() == entries
    locked = desk.deliver(TABLE, event)  # even the true one is refused now
    assert locked.problem is not None
    assert locked.problem.code == ErrorCode.LOCKED
    assert desk.manager.view.view()["tables"][0]["locked"]
    with pytest.raises(ProtocolError, match="is locked"):
        desk.manager.units.greet(desk.units[TABLE].hello())
    units, why = desk.manager.units, "Disk checked by Tech 4; the copy was destroyed."
    with pytest.raises(LedgerError, match="reason"):
        units.release("UF-touch-1", "", Signed("Ann", "Bob"))
    for alone in (Signed("Ann"), Signed("Ann", "ann ")):
        with pytest.raises(LedgerError, match=r"second person|two different people"):
            units.release("UF-touch-1", why, alone)
    units.release("UF-touch-1", why, Signed("Ann", "Bob"))
    assert desk.entries()[-1] == ("UNIT_RELEASED", {})
    with pytest.raises(LedgerError, match="not locked"):
        units.release("UF-touch-1", why, Signed("Ann", "Bob"))
    assert desk.deliver(TABLE, event).acked_sequence == 1
    assert desk.alarm_codes()[0] == "FORK"
    assert desk.alarm_codes()[-1] == "RELEASED"


def test_one_unit_s_fork_in_a_batch_does_not_hold_up_the_others(desk: Desk) -> None:
    desk.open_table("touch-2")
    bad = forked(desk.units[TABLE].make(events.RoundStart(1, ("1A",), (), (), 100)))
    good = desk.units["touch-2"].make(events.RoundStart(1, ("1A",), (), (), 100))
    outcomes = desk.manager.intake.take([("UF-touch-1", bad), ("UF-touch-2", good)])
    assert outcomes[0].problem is not None
    assert outcomes[1].acked_sequence == 1
    assert desk.shown() == 1_000_025


def test_a_copied_disk_is_found_out_when_the_original_went_on(desk: Desk) -> None:
    original = desk.units[TABLE]
    desk.start(TABLE, 1, "1A")
    copy = PretendUnit(original.unit_id, original.journal_id, original.sequence)
    copy.digest = original.digest
    desk.end(TABLE, 1)
    copy.make(events.RoundEnd(1))
    copy.make(events.RoundStart(7, ("1A",), (), (), 100))
    desk.manager.units.greet(copy.hello())  # as far along as the original: nothing to see yet
    outcome = desk.deliver(TABLE, copy.make(events.RoundEnd(7)))
    assert outcome.problem is not None  # 4 after 2: a gap first
    copy_events = PretendUnit(original.unit_id, original.journal_id)
    copy_events.make(events.RoundStart(1, ("1A",), (), (), 100))
    other_history = copy_events.make(events.RoundStart(9, ("2A",), (), (), 100))
    outcome = desk.deliver(TABLE, other_history)
    assert outcome.problem is not None
    assert outcome.problem.code == ErrorCode.FORK
    assert desk.manager.units.get(original.unit_id).locked
    assert "FORK" in desk.alarm_codes()
    outcome = desk.start(TABLE, 2, "1A")
    assert outcome.problem is not None
    assert outcome.problem.code == ErrorCode.LOCKED


# -- who may speak -------------------------------------------------------------------------------


def greet_problem(desk: Desk, unit: PretendUnit, acked_sequence: int = 0) -> ErrorCode:
    with pytest.raises(ProtocolError) as caught:
        desk.manager.units.greet(unit.hello(acked_sequence))
    return caught.value.code


def test_an_unknown_unit_is_turned_away_with_an_alarm(desk: Desk) -> None:
    assert greet_problem(desk, PretendUnit("UF-9999")) == ErrorCode.UNKNOWN_UNIT
    assert desk.alarm_codes() == ["UNKNOWN_UNIT"]


def test_another_journal_under_a_known_name_is_refused_without_locking_the_known_one(
    desk: Desk,
) -> None:
    desk.start(TABLE, 1, "1A")
    stranger = PretendUnit("UF-touch-1", b"another-journal!")
    assert greet_problem(desk, stranger) == ErrorCode.FORK
    assert desk.end(TABLE, 1).acked_sequence == 2


def test_a_second_unit_for_the_same_table_is_refused(desk: Desk) -> None:
    assert greet_problem(desk, PretendUnit(TABLE)) == ErrorCode.UNKNOWN_UNIT


def test_a_unit_may_go_by_its_table_s_name() -> None:
    desk = Desk()
    desk.manager.open_table(_toml())
    assert desk.manager.units.greet(PretendUnit(TABLE).hello()).table_id == TABLE


def _toml() -> str:
    return table_toml(TABLE)


def test_a_journal_that_went_back_in_time_locks_the_unit(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    restored = PretendUnit("UF-touch-1")
    assert greet_problem(desk, restored) == ErrorCode.FORK
    assert greet_problem(desk, desk.units[TABLE]) == ErrorCode.LOCKED


def test_a_unit_acknowledged_by_another_ledger_is_refused(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.units[TABLE].sequence = 9
    assert greet_problem(desk, desk.units[TABLE], acked_sequence=9) == ErrorCode.TAIL
    desk.manager.open_table(_toml().replace(TABLE, "touch-9"))
    fresh = PretendUnit("UF-touch-9", sequence=4)
    assert greet_problem(desk, fresh, acked_sequence=4) == ErrorCode.TAIL


# -- what is said again after each welcome -------------------------------------------------------


def again(desk: Desk) -> list[tuple[int, int]]:
    """Codes and claims of the refusals that a reconnecting unit hears."""
    answers = desk.manager.intake.pending_answers(TABLE)
    return [(each.code, each.claim_number) for each in answers if isinstance(each, Error)]


def test_a_refusal_is_said_again_while_its_round_is_the_last(desk: Desk) -> None:
    """Catches: `and` for `or` of the two conditions. Refusals of past rounds would be told at every
    welcome, and the table would show a fault for a claim that nobody remembers.
    """
    assert again(desk) == []
    desk.start(TABLE, 1, "1A")
    desk.claim(TABLE, 1, 1, s7A="four-aces")
    assert again(desk) == [(ErrorCode.CLAIM_REFUSED, 1)]
    desk.end(TABLE, 1)
    assert again(desk) == [(ErrorCode.CLAIM_REFUSED, 1)]
    desk.start(TABLE, 2, "1A")
    assert again(desk) == []


def test_a_refused_authority_is_said_again_until_the_claim_is_paid(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s1A="four-aces"))
    desk.by_card(TABLE, 1, 1, SUPERVISOR_ACCOUNT, ROLE_SUPERVISOR)
    assert [number for _, number in again(desk)] == [1]
    committed = only(desk.by_card(TABLE, 1, 1), Committed)
    assert again(desk) == []
    desk.say(TABLE, settled(committed))
    assert desk.manager.intake.pending_answers(TABLE) == []


def test_a_unit_that_is_not_known_is_named(desk: Desk) -> None:
    """Catches: the unknown unit handed on as None, which ends in an AttributeError."""
    with pytest.raises(LedgerError, match=r"There is no unit UF-9\."):
        desk.manager.units.get("UF-9")
    with pytest.raises(LedgerError, match=r"There is no unit UF-9\."):
        desk.manager.units.release("UF-9", "looked into", Signed("Ann", "Bob"))


# -- a restart at any step -----------------------------------------------------------------------


STEPS = ("start", "claim", "awarded", "commit", "settled", "end")


@pytest.mark.parametrize("step", range(len(STEPS) + 1), ids=["before", *STEPS])
@pytest.mark.parametrize("keypad", [False, True], ids=["touch", "keypad"])
def test_a_restart_after_any_step_resumes_where_it_was(
    tmp_path: Path, step: int, keypad: bool
) -> None:
    desk = Desk(str(tmp_path / "ledger.sqlite"))
    desk.open_table(TABLE, workflow="keypad" if keypad else "touch", opening='"8000.00"')
    unit = desk.units[TABLE]
    said: list[Event] = []

    def say(body: events.EventBody) -> None:
        said.append(unit.make(body))
        desk.deliver(TABLE, said[-1])
        if len(said) == step:
            restart_and_repeat()

    def restart_and_repeat() -> None:
        """The answers may have been lost with the connection, and the unit repeats itself."""
        desk.restart()
        desk.manager.units.greet(unit.hello())
        for event in said:
            assert desk.deliver(TABLE, event).acked_sequence == len(said)

    if step == 0:
        desk.restart()
    say(events.RoundStart(1, ("2A", "5A", "7A"), (), (), 300))
    say(events.Claim(1, 1, (ClaimedHand("5A", "four-aces"),), keypad))
    (award,) = desk.manager.intake.pending_answers(TABLE)
    assert isinstance(award, Award)
    say(awarded(award))
    assert desk.manager.intake.pending_answers(TABLE) == []
    say(commit_body(desk, keypad))
    (committed,) = desk.manager.intake.pending_answers(TABLE)
    assert isinstance(committed, Committed)
    assert committed.lines[0].amount_cents == 800_075
    say(settled(committed))
    assert desk.manager.intake.pending_answers(TABLE) == []
    say(events.RoundEnd(1))
    assert desk.shown() == 1_000_015
    assert desk.alarm_codes() == []
    finding = audit(desk.store)
    assert finding.sound, finding.sentence
    assert finding.event_count == len(STEPS)
    desk.manager.store.close()


def commit_body(desk: Desk, keypad: bool) -> events.Commit:
    if keypad:
        return events.Commit(1, 1, 3, b"", ROLE_SUPERVISOR)
    return events.Commit(1, 1, 2, desk.swipe(TABLE, 1).ticket, ROLE_EXECUTIVE)


def test_the_executive_account_itself_is_stored_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    desk = Desk(str(path))
    desk.open_table(TABLE)
    desk.manager.store.close()
    assert EXECUTIVE_ACCOUNT.encode() not in path.read_bytes()


def test_rounds_without_a_win_read_nothing_from_the_disk(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a look into history at every round, each a way to the database and back."""
    desk.start(TABLE, 1, "1A", "2A")
    desk.end(TABLE, 1)  # the newest round is kept at hand from now on
    looked_up: list[str] = []
    find = desk.store.engine.find

    def noting(relation: Relation, *arguments: Any) -> list[Row]:
        looked_up.append(relation.name)
        return find(relation, *arguments)

    monkeypatch.setattr(desk.store.engine, "find", noting)
    for number in range(2, 5):
        desk.start(TABLE, number, "1A", "2A")
        desk.end(TABLE, number)
    assert looked_up == []
