"""Who is to be handed what, what was ticked off, and a game that does not end over it unasked."""

from __future__ import annotations

from typing import Any

import pytest

from controller.core.round import commands, paying
from controller.core.round.apply import apply
from controller.core.round.decide import RoundState
from controller.core.round.events import is_local
from controller.inputs.buttons import command_of
from protocol import numbers
from tests.kit.core_table import Table

OWED = "Seat 5 is still owed $8,000.75. Tick it off, or press END GAME again."


def win(table: Table, number: int, lines: list[Any], envy: list[Any]) -> None:
    """A claim of these priced lines, to its end."""
    for sensor, hand, *_ in lines:
        table.select(int(sensor[:-1]), hand)
    if table.rules.is_keypad():
        table.accept(commands.jpot("JPH"))
    else:
        table.accept(commands.confirm())
    claim = table.state.claim
    assert claim is not None
    table.accept(commands.award(claim.number, lines, envy, 1, False))
    if not claim.authorised:
        table.accept(commands.card(2, bytes(16)))
    table.accept(commands.committed(claim.number, number, lines, envy))


def aces(sensor: str, cents: int) -> list[Any]:
    return [sensor, "four-aces", cents, "main", 1]


def test_rows_are_winners_as_paid_then_envy_from_the_dealers_right(touch: Table) -> None:
    """Catches: a seat in two rows, envy before awards, or a winner without his envy."""
    touch.start("1A", "3A", "5A", "6A", "7A")
    win(touch, 1, [aces("5A", 800_075)], [["7A", 10_000], ["3A", 10_000], ["1A", 10_000]])
    win(touch, 2, [aces("3A", 1_000_015)], [["6A", 10_000], ["5A", 10_000]])
    rows = paying.round_rows(touch.state)
    assert [(row.seat, row.total_cents()) for row in rows] == [
        (5, 810_075),
        (3, 1_010_015),
        (7, 10_000),
        (6, 10_000),
        (1, 10_000),
    ]
    assert [(line.kind, line.win_number) for line in rows[0].lines] == [("award", 1), ("envy", 2)]


def test_an_amount_that_nobody_knows_makes_no_total() -> None:
    (row,) = paying.rows([(0, [["5A", "four-aces", None, "main", 1], aces("5B", 500)], [], False)])
    assert row.total_cents() is None
    assert row.due_cents() is None


def test_a_tick_is_journaled_with_all_that_is_due_and_its_time(touch: Table) -> None:
    touch.start("5A", "7A")
    win(touch, 4, [aces("5A", 800_075)], [["7A", 10_000]])
    assert touch.accept(commands.tick(5, 4_000)) == [
        (numbers.PAID, {1: 1, 2: 5, 3: 800_075, 4: 4_000})
    ]
    assert paying.due_by_seat(touch.state) == [(7, 10_000)]
    assert touch.refuse(commands.tick(5, 5_000)) == "Nothing is due to seat 5."


def test_a_second_claim_leaves_only_what_is_new_due(touch: Table) -> None:
    """Catches: the first win shown as due again (`state.paid` not taken off)."""
    touch.start("3A", "5A", "7A")
    win(touch, 1, [aces("5A", 800_075)], [["7A", 10_000]])
    touch.accept(commands.tick(5, 4_000))
    touch.accept(commands.tick(7, 4_500))
    win(touch, 2, [aces("3A", 50_000)], [["7A", 500]])
    assert paying.due_by_seat(touch.state) == [(3, 50_000), (7, 500)]
    first = paying.round_rows(touch.state)[0]
    assert (first.seat, first.paid_cents, first.paid_offset_ms) == (5, 800_075, 4_000)
    touch.accept(commands.tick(7, 9_000))
    assert [row.paid_offset_ms for row in paying.round_rows(touch.state) if row.seat == 7] == [9000]


def test_end_asks_once_while_something_is_due(touch: Table) -> None:
    """Catches: END losing a payment, or END that can never be pressed again."""
    touch.start("5A")
    win(touch, 1, [aces("5A", 800_075)], [])
    assert touch.refuse(commands.end()) == OWED
    assert touch.accept(commands.end()) == [(numbers.ROUND_END, {1: 1})]


def test_end_asks_again_when_something_happened_in_between(touch: Table) -> None:
    touch.start("5A", "3A", "7A")
    win(touch, 1, [aces("5A", 800_075)], [["7A", 10_000]])
    several = "Seats 5, 7 are still owed $8,100.75 in all. Tick them off, or press END GAME again."
    assert touch.refuse(commands.end()) == several
    touch.accept(commands.tick(7, 100))
    assert touch.refuse(commands.end()) == OWED
    touch.accept(commands.seat(3))
    assert "Seat 3 is chosen" in touch.refuse(commands.end())
    touch.accept(commands.late("2A", True, 10))  # a chip that moves is no answer
    touch.accept(commands.end())


def test_end_asks_nothing_when_all_is_ticked(touch: Table) -> None:
    touch.start("5A")
    win(touch, 1, [aces("5A", 800_075)], [])
    touch.accept(commands.tick(5, 0))
    touch.accept(commands.end())
    assert paying.round_rows(touch.state) == []


def test_a_keypad_table_ticks_by_its_seat_keys_and_still_ends_at_once(keypad: Table) -> None:
    keypad.start("5A")
    keypad.rules.key = "JPH"
    win_by_key(keypad)
    assert paying.due_by_seat(keypad.state) == [(5, 800_075)]
    keypad.accept(commands.tick(5, 0))
    assert keypad.refuse(commands.tick(5, 0)) == "Nothing is due to seat 5."
    keypad.accept(commands.end())


def test_nobody_must_tick_on_a_keypad_table(keypad: Table) -> None:
    keypad.start("5A")
    keypad.rules.key = "JPH"
    win_by_key(keypad)
    keypad.accept(commands.end())


def win_by_key(keypad: Table) -> None:
    keypad.select(5, "four-aces")
    keypad.accept(commands.jpot("JPH"))
    keypad.award(800_075, frozen=True)
    keypad.accept(commands.key("RUN"))
    keypad.settle()


@pytest.mark.parametrize(
    ("seat", "sentence"),
    [(9, "This table has no seat 9."), (3, "Nothing is due to seat 3.")],
)
def test_a_tick_for_nobody_is_refused(touch: Table, seat: int, sentence: str) -> None:
    assert "no game under way" in touch.refuse(commands.tick(seat, 0))
    touch.start("3A", "5A")
    assert touch.refuse(commands.tick(seat, 0)) == sentence


def test_what_was_ticked_outlives_a_power_cut_and_the_question_does_not(touch: Table) -> None:
    touch.start("3A", "5A")
    win(touch, 1, [aces("5A", 800_075)], [["3A", 10_000]])
    touch.accept(commands.tick(5, 4_000))
    touch.refuse(commands.end())
    rebuilt = RoundState()
    for event in touch.log:
        if not is_local(event[0]):
            apply(rebuilt, event)
    assert rebuilt.paid == [[5, 800_075, 4_000]]
    assert rebuilt.durable_values() == touch.state.durable_values()
    assert not rebuilt.end_asked


def test_the_button_of_a_seat_on_the_pay_list() -> None:
    command = command_of("TICK 5", "", list)
    assert command is not None
    assert command[:2] == (commands.TICK, 5)
    for nonsense in ("TICK", "TICK 5A", "TICK x", "TICK 0"):
        assert command_of(nonsense, "", list) is None


def test_a_tick_is_a_time_of_the_round() -> None:
    assert commands.since_lock(commands.tick(5, 1_000), 1_500, 9_000) == (commands.TICK, 5, 8_500)
