"""Which round is on, which was the last, and which is entered again."""

from __future__ import annotations

import pytest

from manager.ledger.errors import BookingRefused
from manager.ledger.rounds import Rounds
from tests.kit.pretend_units import Desk

TABLE, OTHER = "touch-1", "touch-2"


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def rounds(desk: Desk) -> Rounds:
    return Rounds(desk.store)


def refused(rounds: Rounds, number: int) -> str:
    with pytest.raises(BookingRefused) as caught:
        rounds.on(TABLE, number)
    return caught.value.sentence


def test_a_round_is_on_until_it_is_ended_and_keeps_its_bets(desk: Desk, rounds: Rounds) -> None:
    assert rounds.latest(TABLE) is None
    assert refused(rounds, 1) == "Round 1 is not under way at table touch-1."
    with desk.store.transaction():
        rounds.start(TABLE, 1, ("2A", "5A"), ((2, 5), (3, 4)))
        rounds.start(OTHER, 7, ())
    played = rounds.on(TABLE, 1)
    assert (played.accepted, played.joined, played.is_on) == (("2A", "5A"), ((2, 5), (3, 4)), True)
    assert (rounds.get(OTHER, 7).accepted, rounds.get(OTHER, 7).joined) == ((), ())
    for number in (0, 2):
        assert refused(rounds, number)
    with desk.store.transaction():
        rounds.end(TABLE, 1)
    assert refused(rounds, 1)
    ended = rounds.get(TABLE, 1)
    assert (ended.is_on, ended.accepted) == (False, ("2A", "5A"))
    assert ended.ended_ms > ended.started_ms > 0
    with pytest.raises(BookingRefused, match="has played no round 2"):
        rounds.get(TABLE, 2)


def test_a_round_can_be_over_as_of_an_earlier_moment_and_be_on_again(
    desk: Desk, rounds: Rounds
) -> None:
    with desk.store.transaction():
        rounds.start(TABLE, 1, ("2A",))
        rounds.end(TABLE, 1, 5)
    latest = rounds.latest(TABLE)
    assert latest is not None
    assert latest.ended_ms == 5
    with desk.store.transaction():
        rounds.reopen(TABLE, 1)
    assert rounds.on(TABLE, 1).ended_ms == 0, "what was read before is not kept for good"


def test_wins_are_entered_in_the_round_under_way_or_in_one_taken_up(
    desk: Desk, rounds: Rounds
) -> None:
    """Catches: a win in a round that is over, because a later one is on."""
    with desk.store.transaction():
        for number in (1, 2, 3):
            rounds.start(TABLE, number, ("2A",))
            rounds.end(TABLE, number)
    for number in (1, 2, 3):
        with pytest.raises(BookingRefused, match=f"Round {number} is not under way"):
            rounds.entered(TABLE, number)
    assert rounds.taken_up(TABLE) == []
    with desk.store.transaction():
        rounds.reopen(TABLE, 1)
    assert rounds.entered(TABLE, 1).number == 1
    assert [each.number for each in rounds.taken_up(TABLE)] == [1]
    assert rounds.taken_up(OTHER) == []
    with desk.store.transaction():
        rounds.end(TABLE, 1)
        rounds.reopen(TABLE, 3)
    assert rounds.entered(TABLE, 3).number == 3
    assert rounds.taken_up(TABLE) == [], "the last one is only on again"
    assert [each.number for each in rounds.newest(TABLE, 2)] == [3, 2]
