"""Each event once: repeats, gaps, forks, nonsense, and a manager that restarts at any step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from manager.events import Outcome
from manager.ledger.audit import audit
from manager.ledger.errors import LedgerError
from protocol import events
from protocol.errors import ErrorCode, ProtocolError
from protocol.messages import Award, Committed, Error, Event
from protocol.rows import ROLE_EXECUTIVE, ROLE_SUPERVISOR, ClaimedHand
from tests.unit.manager.desk import (
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


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table(TABLE)
    return desk


def refusal(outcome: Outcome, code: ErrorCode = ErrorCode.CLAIM_REFUSED) -> Error:
    """The event was refused with this code, and yet acknowledged."""
    error = only(outcome, Error)
    assert error.code == code, error
    assert outcome.acked_sequence == error.sequence > 0
    assert outcome.problem is None
    return error


# -- exactly once --------------------------------------------------------------------------------


def test_a_repeated_event_is_acknowledged_and_has_no_effect(desk: Desk) -> None:
    event = desk.units[TABLE].make(events.RoundStart(1, ("1A", "2A"), ()))
    first = desk.deliver(TABLE, event)
    entries = desk.entries()
    again = desk.deliver(TABLE, event)
    assert first.acked_sequence == again.acked_sequence == 1
    assert again.answers == []
    assert desk.entries() == entries


def test_an_old_event_repeated_is_acknowledged_up_to_the_newest(desk: Desk) -> None:
    first = desk.units[TABLE].make(events.RoundStart(1, ("1A",), ()))
    desk.deliver(TABLE, first)
    desk.end(TABLE, 1)
    assert desk.deliver(TABLE, first).acked_sequence == 2


def test_a_whole_batch_repeated_changes_nothing(desk: Desk) -> None:
    unit = desk.units[TABLE]
    bodies = [events.RoundStart(1, ("1A",), ()), events.RoundEnd(1), events.RoundStart(2, (), ())]
    batch = [(unit.unit_id, unit.make(body)) for body in bodies]
    desk.manager.intake.take(batch)
    entries = desk.entries()
    assert [o.acked_sequence for o in desk.manager.intake.take(batch)] == [3, 3, 3]
    assert desk.entries() == entries
    assert audit(desk.store).sound


def test_a_gap_is_refused_and_not_taken_in(desk: Desk) -> None:
    unit = desk.units[TABLE]
    unit.make(events.RoundStart(1, ("1A",), ()))  # never delivered
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
    event = desk.units[TABLE].make(events.RoundStart(1, ("1A",), ()))
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
    with pytest.raises(LedgerError, match="reason"):
        desk.manager.units.release("UF-touch-1", "")
    desk.manager.units.release("UF-touch-1", "Card checked by Tech 4; the copy was destroyed.")
    assert desk.deliver(TABLE, event).acked_sequence == 1
    assert desk.alarm_codes()[0] == "FORK"
    assert desk.alarm_codes()[-1] == "RELEASED"


def test_one_unit_s_fork_in_a_batch_does_not_hold_up_the_others(desk: Desk) -> None:
    desk.open_table("touch-2")
    bad = forked(desk.units[TABLE].make(events.RoundStart(1, ("1A",), ())))
    good = desk.units["touch-2"].make(events.RoundStart(1, ("1A",), ()))
    outcomes = desk.manager.intake.take([("UF-touch-1", bad), ("UF-touch-2", good)])
    assert outcomes[0].problem is not None
    assert outcomes[1].acked_sequence == 1
    assert desk.shown() == 1_000_025


def test_a_copied_card_is_found_out_when_the_original_went_on(desk: Desk) -> None:
    original = desk.units[TABLE]
    desk.start(TABLE, 1, "1A")
    copy = PretendUnit(original.unit_id, original.journal_id, original.sequence)
    copy.digest = original.digest
    desk.end(TABLE, 1)
    copy.make(events.RoundEnd(1))
    copy.make(events.RoundStart(7, ("1A",), ()))
    desk.manager.units.greet(copy.hello())  # as far along as the original: nothing to see yet
    outcome = desk.deliver(TABLE, copy.make(events.RoundEnd(7)))
    assert outcome.problem is not None  # 4 after 2: a gap first
    copy_events = PretendUnit(original.unit_id, original.journal_id)
    copy_events.make(events.RoundStart(1, ("1A",), ()))
    other_history = copy_events.make(events.RoundStart(9, ("2A",), ()))
    outcome = desk.deliver(TABLE, other_history)
    assert outcome.problem is not None
    assert outcome.problem.code == ErrorCode.FORK


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
    desk.manager.open_table(
        "\n".join(
            line for line in _toml().splitlines() if "board" not in line and "UF-" not in line
        )
    )
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
    assert greet_problem(desk, desk.units[TABLE], acked_sequence=9) == ErrorCode.GAP
    desk.manager.open_table(_toml().replace(TABLE, "touch-9"))
    fresh = PretendUnit("UF-touch-9", sequence=4)
    assert greet_problem(desk, fresh, acked_sequence=4) == ErrorCode.GAP


# -- nonsense is answered, recorded and kept -----------------------------------------------------


def test_a_bet_on_a_sensor_the_table_lacks_is_not_booked_but_the_others_are(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A", "8A", "2B")
    assert desk.manager.view.wagers_of(TABLE) == 1
    assert desk.shown() == 1_000_025
    assert desk.alarm_codes() == ["WAGER", "WAGER"]


def test_a_round_number_seen_before_is_refused(desk: Desk) -> None:
    desk.start(TABLE, 5, "1A")
    desk.end(TABLE, 5)
    refusal(desk.start(TABLE, 5, "1A", "2A"))
    assert desk.shown() == 1_000_025


def test_a_round_that_was_never_ended_is_closed_and_noted(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.start(TABLE, 2, "2A")
    assert desk.alarm_codes() == ["ROUND"]
    assert desk.shown() == 1_000_050
    refusal(desk.claim(TABLE, 1, 1, s1A="four-aces"))


def test_the_end_of_a_round_that_is_not_on_is_refused(desk: Desk) -> None:
    refusal(desk.end(TABLE, 1))


def test_a_round_that_ends_with_an_open_claim_raises_an_alarm(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.claim(TABLE, 1, 1, s1A="four-aces")
    desk.end(TABLE, 1)
    assert desk.alarm_codes() == ["CLAIM"]


@pytest.mark.parametrize(("sensor", "hand"), [("3A", "four-aces"), ("1A", "five-aces")])
def test_a_hand_without_sense_is_refused(desk: Desk, sensor: str, hand: str) -> None:
    desk.start(TABLE, 1, "1A")
    refusal(desk.say(TABLE, events.Hand(1, sensor, hand)))
    assert desk.alarm_codes() == ["CLAIM_REFUSED"]


def test_hands_with_sense_are_kept_without_a_word(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    assert desk.say(TABLE, events.Hand(1, "1A", "four-aces")).answers == []
    assert desk.say(TABLE, events.Hand(1, "1A", "")).answers == []
    assert desk.alarm_codes() == []


BAD_CLAIMS: dict[str, Callable[[Desk], Outcome]] = {
    "no accepted bet": lambda d: d.claim(TABLE, 1, 1, s3A="four-aces"),
    "unknown hand": lambda d: d.claim(TABLE, 1, 1, s1A="five-aces"),
    "another round": lambda d: d.claim(TABLE, 2, 1, s1A="four-aces"),
    "number skipped": lambda d: d.claim(TABLE, 1, 2, s1A="four-aces"),
    "no hand": lambda d: d.claim(TABLE, 1, 1),
    "sensor twice": lambda d: d.say(
        TABLE, events.Claim(1, 1, (ClaimedHand("1A", "four-aces"),) * 2, False)
    ),
}


@pytest.mark.parametrize("name", BAD_CLAIMS)
def test_a_claim_without_sense_is_refused_and_the_next_one_works(desk: Desk, name: str) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    error = refusal(BAD_CLAIMS[name](desk))
    assert error.claim_number in (1, 2)
    # The refusal is repeated after a reconnect: its first sending may have been lost.
    assert desk.manager.intake.pending_answers(TABLE) == [error]
    assert desk.alarm_codes() == ["CLAIM_REFUSED"]
    committed = desk.win(TABLE, 1, error.claim_number + 1, s1A="four-aces")
    assert committed.lines[0].amount_cents == 1_000_050


def test_a_claim_number_used_before_is_refused_and_the_first_claim_stands(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s1A="four-aces"))
    refusal(desk.claim(TABLE, 1, 1, s2A="four-aces"))
    assert only(desk.by_card(TABLE, 1, 1), Committed).lines[0].sensor == "1A"


@pytest.mark.parametrize("paid", [True, False])
def test_one_bet_can_win_once(desk: Desk, paid: bool) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    if paid:
        desk.win(TABLE, 1, 1, s1A="three-of-a-kind")
    else:
        desk.claim(TABLE, 1, 1, s1A="three-of-a-kind")
    error = refusal(desk.claim(TABLE, 1, 2, s1A="four-aces"))
    assert "already" in error.sentence


BAD_COMMITS: dict[str, Callable[[Desk], Outcome]] = {
    "supervisor for an executive's win": lambda d: d.by_card(
        TABLE, 1, 1, SUPERVISOR_ACCOUNT, ROLE_SUPERVISOR
    ),
    "supervisor that claims to be an executive": lambda d: d.by_card(
        TABLE, 1, 1, SUPERVISOR_ACCOUNT, ROLE_EXECUTIVE
    ),
    "unknown card": lambda d: d.by_card(TABLE, 1, 1, "4000000000000000"),
    "no card": lambda d: d.say(TABLE, events.Commit(1, 1, 2, b"", ROLE_EXECUTIVE)),
    "the dealer": lambda d: d.say(TABLE, events.Commit(1, 1, 1, b"", ROLE_EXECUTIVE)),
    "a key": lambda d: d.by_key(TABLE, 1, 1),
}


@pytest.mark.parametrize("name", BAD_COMMITS)
def test_a_win_without_sufficient_authority_is_refused_and_stays_open(
    desk: Desk, name: str
) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s1A="four-aces"))
    entries = desk.entries()
    error = refusal(BAD_COMMITS[name](desk), ErrorCode.CARD_REFUSED)
    assert error.claim_number == 1
    assert desk.entries() == entries
    assert desk.alarm_codes() == ["CARD_REFUSED"]
    assert desk.manager.intake.pending_answers(TABLE) == [error]
    assert only(desk.by_card(TABLE, 1, 1), Committed).lines[0].amount_cents == 1_000_050
    assert error not in desk.manager.intake.pending_answers(TABLE)


def test_a_commit_before_the_amount_was_received_is_refused(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.claim(TABLE, 1, 1, s1A="four-aces")
    refusal(desk.by_card(TABLE, 1, 1))
    assert desk.manager.view.award_of(TABLE, 1) == 0


def test_a_commit_of_no_claim_or_of_another_round_is_refused(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    refusal(desk.by_card(TABLE, 1, 1))
    desk.receive_award(TABLE, desk.claim(TABLE, 1, 1, s1A="four-aces"))
    refusal(desk.by_card(TABLE, 2, 1))
    refusal(desk.say(TABLE, events.Cancel(2, 1)))


def test_a_booked_win_cannot_be_cancelled(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.win(TABLE, 1, 1, s1A="four-aces")
    refusal(desk.say(TABLE, events.Cancel(1, 1)))


def test_a_receipt_with_other_amounts_is_refused(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    award = only(desk.claim(TABLE, 1, 1, s1A="four-aces"), Award)
    wrong = award.lines[0]._replace(amount_cents=1)
    refusal(desk.say(TABLE, replace(awarded(award), lines=(wrong,))))
    desk.say(TABLE, awarded(award))
    committed = only(desk.by_card(TABLE, 1, 1), Committed)
    refusal(desk.say(TABLE, replace(settled(committed), win_number=9)))
    assert committed in desk.manager.intake.pending_answers(TABLE)


@pytest.mark.parametrize(("kind", "body"), [(99, {1: 1}), (2, {1: 1}), (10, {1: 1, 9: 1})])
def test_a_body_that_cannot_be_read_is_kept_and_the_stream_goes_on(
    desk: Desk, kind: int, body: dict[int, object]
) -> None:
    outcome = desk.deliver(TABLE, desk.units[TABLE].make_raw(kind, body))
    assert outcome.acked_sequence == 1
    assert isinstance(outcome.answers[0], Error)
    assert len(desk.alarm_codes()) == 1
    assert desk.start(TABLE, 1, "1A").acked_sequence == 2
    assert audit(desk.store).event_count == 2


def test_a_body_too_large_for_a_journal_ends_the_connection_and_nothing_else(desk: Desk) -> None:
    unit = desk.units[TABLE]
    body: dict[int, object] = dict.fromkeys(range(1, 21), "x" * 190)
    event = Event(1, 13, body, 1, 1, bytes(32))
    outcome = desk.deliver(TABLE, event)
    assert outcome.problem is not None
    assert outcome.problem.code == ErrorCode.OVERSIZED
    assert desk.deliver(TABLE, unit.make(events.RoundEnd(1))).acked_sequence == 1


def test_a_late_chip_and_a_fault_are_alarms_and_a_removed_chip_is_not(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.say(TABLE, events.LateChange(1, "1A", False, 900))
    desk.say(TABLE, events.LateChange(1, "1A", True, 1900))
    assert desk.alarm_codes() == []
    desk.say(TABLE, events.LateChange(1, "2A", True, 2500))
    desk.say(TABLE, events.Fault("sensor-silent", "3A", True, "No answer from the sensor."))
    desk.say(TABLE, events.Fault("sensor-silent", "3A", False, "No answer from the sensor."))
    assert desk.alarm_codes() == ["LATE_CHIP", "sensor-silent", "sensor-silent"]
    assert desk.shown() == 1_000_025


def test_what_is_laid_on_a_bet_after_the_lock_is_an_alarm(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    desk.say(TABLE, events.LateChange(1, "1A", True, 800))
    assert desk.alarm_codes() == ["LATE_CHIP"]
    assert (
        "on the bet at 1A 800 ms after the lock of round 1"
        in desk.manager.book.alarms.newest(1)[0].sentence
    )
    desk.say(TABLE, events.LateChange(1, "2A", False, 900))
    desk.say(TABLE, events.LateChange(1, "1A", False, 950))
    desk.say(TABLE, events.LateChange(1, "2A", True, 1200))
    assert desk.alarm_codes() == ["LATE_CHIP"], "a chip that was taken came back"
    desk.say(TABLE, events.LateChange(1, "2A", True, 1500))
    assert desk.alarm_codes() == ["LATE_CHIP"] * 2
    desk.say(TABLE, events.RoundEnd(1))
    desk.start(TABLE, 2, "1A")
    desk.say(TABLE, events.LateChange(2, "1A", True, 700))
    assert desk.alarm_codes() == ["LATE_CHIP"] * 3, "what an earlier round saw taken is history"


def test_settings_and_software_are_noted(desk: Desk) -> None:
    digest = desk.manager.book.tables.rules(TABLE).settings.digest()
    desk.say(TABLE, events.Boot(1, "underfelt 0.1.0", ""))
    desk.say(TABLE, events.Config(digest))
    desk.say(TABLE, events.Refused("press END", "A hand is not confirmed."))
    unit = desk.manager.units.get("UF-touch-1")
    assert (unit.software, unit.config_digest) == ("underfelt 0.1.0", digest)
    assert desk.alarm_codes() == []
    desk.say(TABLE, events.Config(bytes(32)))
    assert desk.alarm_codes() == ["SETTINGS"]


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
    say(events.RoundStart(1, ("2A", "5A", "7A"), ()))
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
    settings = desk.manager.book.tables.rules(TABLE).settings
    card = next(card for card in settings.cards if card.role == ROLE_EXECUTIVE)
    return events.Commit(1, 1, 2, card.digest, ROLE_EXECUTIVE)


def test_the_executive_account_itself_is_stored_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    desk = Desk(str(path))
    desk.open_table(TABLE)
    desk.manager.store.close()
    assert EXECUTIVE_ACCOUNT.encode() not in path.read_bytes()
