"""What still matters of a round under way, for a journal that goes on in its middle."""

from __future__ import annotations

from manager.intake.open_round import replayable_events
from protocol.numbers import ROLE_EXECUTIVE
from protocol.wire import events
from protocol.wire.messages import Event
from protocol.wire.rows import AwardLine, ClaimedHand

LINES = (AwardLine("5A", "four-aces", 800_000, "main", 1),)


def told(*bodies: events.EventBody) -> list[Event]:
    return [
        Event(number, body.KIND, body.to_body(), 0, 0, bytes(32))
        for number, body in enumerate(bodies, 1)
    ]


def left(*bodies: events.EventBody) -> list[events.EventBody]:
    return [event.parse_body() for event in replayable_events(told(*bodies))]


START = events.RoundStart(1, ("2A", "5A"), (), (), 200)
CLAIM = events.Claim(1, 1, (ClaimedHand("5A", "four-aces"),), False)
AWARDED = events.Awarded(1, LINES, (), ROLE_EXECUTIVE, False)
COMMIT = events.Commit(1, 1, 2, bytes(16), ROLE_EXECUTIVE)
SETTLED = events.Settled(1, 1, LINES, ())


def test_only_the_last_hand_of_a_sensor_counts_and_one_that_was_taken_off_does_not() -> None:
    first, second = events.Hand(1, "5A", "four-aces"), events.Hand(1, "5A", "straight-flush")
    other, off = events.Hand(1, "2A", "four-aces"), events.Hand(1, "2A", "")
    assert left(START, first, other, second) == [START, other, second]
    assert left(START, other, off, first) == [START, first]


def test_an_open_claim_needs_each_step_it_has_taken() -> None:
    assert left(START, CLAIM, AWARDED, COMMIT) == [START, CLAIM, AWARDED, COMMIT]


def test_of_a_settled_claim_the_claim_and_its_receipt_are_enough() -> None:
    assert left(START, CLAIM, AWARDED, COMMIT, SETTLED) == [START, CLAIM, SETTLED]


def test_a_cancelled_claim_leaves_nothing_and_the_next_one_all() -> None:
    second = events.Claim(1, 2, (ClaimedHand("2A", "four-aces"),), False)
    cancel = events.Cancel(1, 1)
    assert left(START, CLAIM, AWARDED, cancel, second) == [START, second]


def test_a_receipt_that_came_twice_counts_once() -> None:
    assert left(START, CLAIM, AWARDED, AWARDED) == [START, CLAIM, AWARDED]


def test_coming_and_going_each_leave_a_mark_and_every_tick_counts() -> None:
    came, went = events.LateChange(1, "3A", True, 100), events.LateChange(1, "3A", False, 200)
    again = events.LateChange(1, "3A", True, 300)
    assert left(START, came, went, again) == [START, went, again]
    tick, back = events.Paid(1, 5, 700, 90), events.TakenBack(1, 5, 700, 95)
    assert left(START, tick, tick, back, back) == [START, tick, tick, back, back]


def test_each_reversed_win_counts_once() -> None:
    one, two = events.Reversed(1, 1), events.Reversed(1, 2)
    assert left(START, one, two, one) == [START, two, one]
