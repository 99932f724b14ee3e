"""An event of another round, or of no round, changes nothing: journals are replayed as they are."""

from __future__ import annotations

from copy import deepcopy

import pytest

from controller.core.round.decide import apply
from controller.core.round.rules import Rules
from protocol.numbers import ROLE_EXECUTIVE
from protocol.wire import events
from protocol.wire.rows import AwardLine, ClaimedHand, Counters
from tests.kit.core_table import Table, make_rules

LINES = (AwardLine("5A", "four-aces", 800_000, "main", 1),)


def taken(table: Table, *bodies: events.EventBody) -> list[object]:
    for body in bodies:
        apply(table.state, (body.KIND, body.to_body()))
    return deepcopy(table.state.durable_values())


def news(round_number: int) -> list[events.EventBody]:
    """Everything that can happen in a round, by its number."""
    return [
        events.LateChange(round_number, "3A", True, 100),
        events.Hand(round_number, "5A", "straight-flush"),
        events.Claim(round_number, 3, (ClaimedHand("5A", "four-aces"),), False),
        events.Paid(round_number, 5, 700, 90),
        events.TakenBack(round_number, 5, 700, 95),
        events.RoundEnd(round_number),
        events.Voided(round_number, 2, 1, "misdeal", bytes(16)),
    ]


@pytest.mark.parametrize("index", range(7))
def test_what_happened_in_another_round_changes_nothing_in_this_one(
    touch: Table, index: int
) -> None:
    touch.start("2A", "5A")
    number = touch.state.round_number
    before = deepcopy(touch.state.durable_values())
    for other in (number - 1, number + 1):
        if other:
            assert taken(touch, news(other)[index])[:1] == before[:1]
            assert taken(touch) == before or index == 2, "a claim's number is used up all the same"
            assert touch.state.claim is None
            assert touch.state.late_count == 0


@pytest.mark.parametrize("index", [0, 1, 2, 3, 4])
def test_what_happened_in_this_round_is_there(touch: Table, index: int) -> None:
    touch.start("2A", "5A")
    before = deepcopy(touch.state.durable_values())
    assert taken(touch, news(touch.state.round_number)[index]) != before


def test_amounts_for_another_claim_are_not_this_ones(touch: Table) -> None:
    touch.start("2A", "5A")
    number = touch.state.round_number
    claim = events.Claim(number, 1, (ClaimedHand("5A", "four-aces"),), False)
    before = taken(touch, claim)
    assert taken(touch, events.Awarded(2, LINES, (), ROLE_EXECUTIVE, False)) == before
    assert taken(touch, events.Settled(2, 1, LINES, ())) == before
    assert taken(touch, events.Cancel(number, 2)) == before
    assert taken(touch, events.Awarded(1, LINES, (), ROLE_EXECUTIVE, False)) != before


def test_a_win_that_is_settled_ends_what_was_being_entered(touch: Table) -> None:
    touch.start("2A", "5A")
    touch.select(5, "straight-flush")
    number = touch.state.round_number
    taken(touch, events.Claim(number, 1, (ClaimedHand("5A", "straight-flush"),), False))
    touch.state.selected_seat, touch.state.end_asked = 2, True
    line = AwardLine("5A", "straight-flush", 20_000, "", 0)
    taken(touch, events.Settled(1, 1, (line,), ()))
    assert (touch.state.selected_seat, touch.state.end_asked) == (0, False)
    assert (touch.state.claim, touch.state.hands) == (None, [])
    assert [win.win_number for win in touch.state.wins] == [1]


def test_nothing_that_play_needs_is_there_until_the_owner_says_so() -> None:
    rules = Rules("touch", ["1A"], make_rules().games, 0, 0)
    assert (rules.link_up, rules.meters_fresh, rules.key) == (False, False, "")
    assert (rules.aggregate_limit_cents, rules.aggregate_per_player) == (0, False)
    assert rules.stopping_faults == []


def test_a_journal_that_goes_on_for_another_uses_no_claim_number_twice(touch: Table) -> None:
    """Catches: the smaller of the two numbers kept, so that a claim would stand for two wins."""
    counters = Counters(0, 0, 0, 0, 3)
    for told, kept in ((7, 7), (4, 7), (9, 9)):
        taken(touch, events.Restored(bytes(16), 12, 3, told, counters, 0, 0))
        assert (touch.state.round_number, touch.state.last_claim_number) == (3, kept)


@pytest.mark.parametrize(
    "turn",
    ["start", "claim", "settled", "end", "voided", "reopened", "late", "late end", "restored"],
)
def test_what_was_being_entered_ends_with_what_it_was_entered_into(touch: Table, turn: str) -> None:
    """Catches: a hand of the last game that is given to a seat of the next one."""
    state = touch.state
    touch.start("2A", "5A")
    number = state.round_number
    claim = events.Claim(number, 1, (ClaimedHand("5A", "four-aces"),), False)
    late = events.LateEntry(number, 1, bytes(16), "power", ("2A",), (), ())
    counters = Counters(number, 2, 200, 0, 0)
    turns: dict[str, tuple[list[events.EventBody], events.EventBody]] = {
        "start": ([events.RoundEnd(number)], events.RoundStart(number + 1, ("2A",), (), ())),
        "claim": ([], claim),
        "settled": ([claim], events.Settled(1, 1, LINES, ())),
        "end": ([], events.RoundEnd(number)),
        "voided": ([], events.Voided(number, 2, 1, "misdeal", bytes(16))),
        "reopened": ([events.RoundEnd(number)], events.Reopened(number, 2, 1, bytes(16))),
        "late": ([events.RoundEnd(number)], late),
        "late end": ([events.RoundEnd(number), late], events.RoundEnd(number)),
        "restored": ([], events.Restored(bytes(16), 1, number, 0, counters, 0, 0)),
    }
    before, last = turns[turn]
    taken(touch, *before)
    state.selected_seat, state.selected_letter, state.pending_hand = 2, "A", "four-aces"
    taken(touch, last)
    assert (state.selected_seat, state.selected_letter, state.pending_hand) == (0, "", "")
