"""Nonsense from a unit is answered, recorded and kept, and the stream goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from manager.audit.audit import audit
from manager.intake.intake import Outcome
from protocol.numbers import ROLE_EXECUTIVE, ROLE_SUPERVISOR
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Award, Committed, Error, Event
from protocol.wire.rows import ClaimedHand
from sim.floor import figures
from tests.kit.pretend_units import (
    SUPERVISOR_ACCOUNT,
    Desk,
    awarded,
    only,
    refusal,
    settled,
)

TABLE = "touch-1"


def test_a_bet_on_a_sensor_the_table_lacks_is_not_booked_but_the_others_are(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A", "8A", "2B")
    assert figures.wager_count(desk.manager.book, TABLE) == 1
    assert desk.shown() == 1_000_025
    assert desk.alarm_codes() == ["WAGER", "WAGER"]


@pytest.mark.parametrize(
    ("sensors", "cents", "words"),
    [
        (("1A", "9A"), 200, "without 9A"),
        (("1A", "1B"), 100, "without 1B"),
        (("1A", "2A"), 100, "says 1.00 was wagered, 2.00 is booked"),
        (("1A", "2A"), 201, "says 2.01"),
    ],
)
def test_a_bet_that_is_not_booked_and_cents_that_differ_are_told_to_the_unit(
    desk: Desk, sensors: tuple[str, ...], cents: int, words: str
) -> None:
    outcome = desk.say(TABLE, events.RoundStart(1, sensors, (), (), cents))
    error = refusal(outcome, ErrorCode.WAGER)
    assert words in error.sentence.replace("$", "")
    assert "WAGER" in desk.alarm_codes()
    assert desk.end(TABLE, 1).answers == []  # the round itself stands


def test_a_round_number_seen_before_is_refused(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.end(TABLE, 1)
    refusal(desk.start(TABLE, 1, "1A", "2A"))
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
    "no hand": lambda d: d.claim(TABLE, 1, 1),
    "sensor twice": lambda d: d.say(
        TABLE, events.Claim(1, 1, (ClaimedHand("1A", "four-aces"),) * 2, False)
    ),
}


@pytest.mark.parametrize("name", BAD_CLAIMS)
def test_a_claim_without_sense_is_refused_and_the_next_one_works(desk: Desk, name: str) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    error = refusal(BAD_CLAIMS[name](desk))
    assert error.claim_number == 1
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
    assert desk.alarm_codes()[-1] == "CARD_REFUSED"
    assert desk.manager.intake.pending_answers(TABLE) == [error]
    assert only(desk.by_card(TABLE, 1, 1), Committed).lines[0].amount_cents == 1_000_050
    assert error not in desk.manager.intake.pending_answers(TABLE)


def test_a_commit_before_the_amount_was_received_is_refused(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    desk.claim(TABLE, 1, 1, s1A="four-aces")
    refusal(desk.by_card(TABLE, 1, 1))
    assert figures.award_cents(desk.manager.book, TABLE, 1) == 0


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
    desk.say(TABLE, events.Settings(digest))
    desk.say(TABLE, events.Refused("press END", "A hand is not confirmed."))
    unit = desk.manager.units.get("UF-touch-1")
    assert (unit.software, unit.settings_digest) == ("underfelt 0.1.0", digest)
    assert desk.alarm_codes() == []
    desk.say(TABLE, events.Settings(bytes(32)))
    assert desk.alarm_codes() == ["SETTINGS"]
