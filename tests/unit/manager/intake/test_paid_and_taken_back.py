"""What was handed out to each seat, and wins that were taken back."""

from __future__ import annotations

from dataclasses import replace

from manager.audit.audit import audit
from manager.intake.counters import TableCounters
from protocol.numbers import METHOD_KEY, ROLE_SUPERVISOR
from protocol.wire import events
from protocol.wire.messages import Award, Committed
from tests.kit.pretend_units import (
    Desk,
    awarded,
    only,
    refusal,
    settled,
)

TABLE = "touch-1"


# -- what was handed out -------------------------------------------------------------------------


def test_a_seat_is_ticked_off_for_what_it_won_and_no_more(desk: Desk) -> None:
    """Catches: ticks that are not added up, or envy that is not counted."""
    desk.start(TABLE, 1, "1A", "2A")
    committed = desk.win(TABLE, 1, 1, _2A="four-aces")
    (line,), (envy,) = committed.lines, committed.envy
    for seat, cents in ((2, line.amount_cents - 1), (1, envy.amount_cents), (2, 1)):
        assert desk.say(TABLE, events.Paid(1, seat, cents, 5_000)).answers == []
    more = desk.say(TABLE, events.Paid(1, 2, 1, 6_000))
    assert "more than it won" in refusal(more).sentence
    assert "more than it won" in refusal(desk.say(TABLE, events.Paid(1, 7, 1, 6_000))).sentence


def test_a_tick_belongs_to_the_round_under_way(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    committed = desk.win(TABLE, 1, 1, _2A="four-aces")
    desk.end(TABLE, 1)
    late = desk.say(TABLE, events.Paid(1, 2, committed.lines[0].amount_cents, 5_000))
    assert "not under way" in refusal(late).sentence
    desk.start(TABLE, 2, "1A", "2A")
    again = desk.win(TABLE, 2, 2, _2A="four-aces").lines[0].amount_cents
    assert desk.say(TABLE, events.Paid(2, 2, again, 5_000)).answers == []


# -- wins that were taken back -------------------------------------------------------------------


def test_a_reversal_is_told_until_the_unit_has_its_receipt(desk: Desk) -> None:
    """Catches: a table that is never told, and one that is told for ever."""
    desk.start(TABLE, 1, "1A", "2A")
    win = desk.win(TABLE, 1, 1, _2A="four-aces").win_number
    assert untold(desk) == []
    desk.manager.correct(reversing(win))
    assert untold(desk) == [(win, 1, 1)]
    assert desk.say(TABLE, events.Reversed(1, win)).answers == []
    assert untold(desk) == []
    assert desk.say(TABLE, events.Reversed(1, win)).answers == []  # a receipt may come twice


def test_several_reversals_are_told_oldest_first_and_none_of_another_table(desk: Desk) -> None:
    """Catches: a table that takes money back in another order than it was decided."""
    desk.open_table("touch-2")
    desk.start(TABLE, 1, "1A", "2A", "3A")
    desk.start("touch-2", 1, "1A")
    wins = [
        desk.win(TABLE, 1, number, **{f"_{seat}A": "three-of-a-kind"}).win_number
        for number, seat in ((1, 3), (2, 1), (3, 2))
    ]
    other = desk.win("touch-2", 1, 1, _1A="three-of-a-kind").win_number
    for win in (wins[1], other, wins[2], wins[0]):
        desk.manager.correct(reversing(win))
    assert [told[0] for told in untold(desk)] == [wins[1], wins[2], wins[0]]
    desk.end(TABLE, 1)
    desk.start(TABLE, 2, "1A")
    assert untold(desk) == []


def test_a_receipt_for_a_win_that_stands_is_refused(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    win = desk.win(TABLE, 1, 1, _2A="four-aces").win_number
    for number in (win, win + 7):
        assert "stands" in refusal(desk.say(TABLE, events.Reversed(1, number))).sentence


def test_the_right_hand_is_booked_after_a_reversal(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A", "2A")
    win = desk.win(TABLE, 1, 1, _2A="four-aces").win_number
    desk.manager.correct(reversing(win))
    desk.say(TABLE, events.Reversed(1, win))
    assert desk.win(TABLE, 1, 2, _2A="four-of-a-kind").win_number == win + 1
    assert audit(desk.store).sound


def test_what_came_back_is_at_most_what_was_handed_out(desk: Desk) -> None:
    """Catches: a unit that reports money back which nobody ever had."""
    desk.start(TABLE, 1, "1A", "2A")
    desk.win(TABLE, 1, 1, _2A="three-of-a-kind")
    desk.say(TABLE, events.Paid(1, 2, 900, 100))
    assert desk.say(TABLE, events.TakenBack(1, 2, 500, 200)).answers == []
    assert desk.say(TABLE, events.TakenBack(1, 2, 400, 300)).answers == []
    assert "more than" in refusal(desk.say(TABLE, events.TakenBack(1, 2, 1, 400))).sentence


def untold(desk: Desk) -> list[tuple[int, int, int]]:
    unit = desk.manager.units.of_table(TABLE)
    assert unit is not None
    told = desk.manager.intake.reversals.untold(unit)
    return [(each.win_number, each.round_number, each.claim_number) for each in told]


def reversing(win: int) -> dict[str, str]:
    who = {"operator": "Operator 1", "second": "Operator 2"}
    return {"command": "reverse-win", "win": str(win), "reason": "wrong-hand"} | who


def test_the_round_that_ended_last_is_opened_again_and_no_other(desk: Desk) -> None:
    """Catches: two rounds on at once, and a reopened round that takes no claim."""
    desk.start(TABLE, 1, "1A", "2A")
    assert "ended last" in refusal(desk.say(TABLE, events.Reopened(1, 1, 0, b""))).sentence
    desk.end(TABLE, 1)
    assert desk.say(TABLE, events.Reopened(1, 1, 0, b"")).answers == []
    assert desk.win(TABLE, 1, 1, _2A="four-aces").win_number == 1
    desk.end(TABLE, 1)
    desk.start(TABLE, 2, "1A")
    desk.end(TABLE, 2)
    assert "ended last" in refusal(desk.say(TABLE, events.Reopened(1, 1, 0, b""))).sentence
    assert audit(desk.store).sound


def test_the_key_opens_a_round_again_at_a_keypad_table_and_nowhere_else(desk: Desk) -> None:
    """Catches: a key that is asked for a card, and a card reader's table that believes in a key."""
    desk.open_table("keys-1", workflow="keypad")
    by_key = events.Reopened(1, METHOD_KEY, ROLE_SUPERVISOR, b"")
    for table_id in ("keys-1", TABLE):
        desk.start(table_id, 1, "2A")
        desk.end(table_id, 1)
    assert desk.say("keys-1", by_key).answers == []
    assert "by key" in refusal(desk.say(TABLE, by_key)).sentence


def test_a_receipt_names_the_round_under_way_or_none(desk: Desk) -> None:
    """Catches: a receipt of another round that is taken for this one's."""
    desk.start(TABLE, 1, "1A", "2A")
    win = desk.win(TABLE, 1, 1, _2A="four-aces").win_number
    desk.manager.correct(reversing(win))
    desk.end(TABLE, 1)
    assert desk.say(TABLE, events.Reversed(1, win)).answers == [], "it is still the last one"
    desk.start(TABLE, 2, "1A")
    for number in (1, 3):
        said = refusal(desk.say(TABLE, events.Reversed(number, win))).sentence
        assert said == f"Round {number} is not the last one of table {TABLE}."
    assert desk.say(TABLE, events.Reversed(0, win)).answers == []


def test_a_seat_gives_back_what_it_was_handed_and_no_more(desk: Desk) -> None:
    """Catches: money taken back from a seat twice, or from one that got none."""
    desk.start(TABLE, 1, "1A", "2A")
    desk.win(TABLE, 1, 1, _2A="four-aces")
    for seat in (1, 2):
        assert desk.say(TABLE, events.Paid(1, seat, 10_000, 5_000)).answers == []
    assert desk.say(TABLE, events.TakenBack(1, 2, 4_000, 6_000)).answers == []
    assert desk.say(TABLE, events.TakenBack(1, 2, 6_000, 8_000)).answers == []
    assert desk.say(TABLE, events.Paid(1, 2, 10_000, 9_000)).answers == [], "handed out again"
    for seat in (1, 2, 3):
        said = refusal(desk.say(TABLE, events.TakenBack(1, seat, 10_001, 10_000))).sentence
        assert said == f"Seat {seat} gave back more than it was handed in round 1."


def test_a_receipt_for_another_tables_win_is_refused(desk: Desk) -> None:
    desk.open_table("touch-2")
    for table_id in (TABLE, "touch-2"):
        desk.start(table_id, 1, "1A", "2A")
    win = desk.win("touch-2", 1, 1, _2A="four-aces").win_number
    desk.manager.correct(reversing(win))
    said = refusal(desk.say(TABLE, events.Reversed(1, win))).sentence
    assert said == f"The unit took back win {win}, which stands or is none of its own."
    assert desk.say("touch-2", events.Reversed(1, win)).answers == []


def test_amounts_that_a_unit_shows_or_settles_must_be_those_it_was_sent(desk: Desk) -> None:
    """Catches: a table that pays out other cents than the books, and nobody objects."""
    desk.start(TABLE, 1, "1A", "2A")
    award = only(desk.claim(TABLE, 1, 1, _2A="four-aces"), Award)
    right = awarded(award)
    for wrong in (
        replace(right, lines=()),
        replace(right, envy=()),
        replace(right, role=right.role - 1),
        replace(right, frozen=not right.frozen),
    ):
        assert "shows other amounts" in refusal(desk.say(TABLE, wrong)).sentence
    unbooked = events.Settled(1, 1, award.lines, award.envy)
    assert "with other amounts than booked" in refusal(desk.say(TABLE, unbooked)).sentence
    desk.say(TABLE, right)
    committed = only(desk.by_card(TABLE, 1, 1), Committed)
    booked = settled(committed)
    for other in (
        replace(booked, lines=()),
        replace(booked, envy=()),
        replace(booked, win_number=booked.win_number + 1),
    ):
        assert "with other amounts than booked" in refusal(desk.say(TABLE, other)).sentence
    counters = TableCounters(desk.store)
    assert counters.of(TABLE).win_count == 0
    paid = sum(line.amount_cents for line in (*committed.lines, *committed.envy))
    for _ in range(2):
        assert desk.say(TABLE, booked).answers == []
        assert (counters.of(TABLE).win_count, counters.of(TABLE).paid_cents) == (1, paid)
