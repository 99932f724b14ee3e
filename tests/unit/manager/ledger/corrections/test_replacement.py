"""When a win that is recorded again may draw the parts of then: only where each is still there."""

from __future__ import annotations

import pytest

from manager.ledger.corrections.replacement import _still_possible
from manager.ledger.pricing import MeterState, Movement, Pay

TRAY = Movement(Pay("1A", "three-of-a-kind", "", 0, 700), 700)
ALL = Pay("5A", "four-aces", "main", 1_000_000, 0)


def holds(player: int, house: int, reserve: int) -> dict[str, MeterState]:
    return {"main": MeterState("main", 50, player, house, reserve)}


def award(player: int, house: int, reserve: int, seed: int = 0) -> Movement:
    return Movement(ALL, 1, player, house, 0, seed, reserve)


@pytest.mark.parametrize(
    ("now", "is_possible"),
    [
        ((30, 20, 10), True),  # to the last micro-cent
        ((29, 99, 99), False),
        ((99, 19, 99), False),
        ((99, 99, 9), False),
    ],
)
def test_no_part_of_a_meter_may_end_below_nothing(
    now: tuple[int, int, int], is_possible: bool
) -> None:
    """Catches: the question for negative parts left out. The store would refuse to overdraw the
    part, and with it the right winner, where the meter was won meanwhile.
    """
    assert _still_possible([award(30, 20, 10)], holds(*now)) is is_possible
    # What the tray paid asks nothing of a meter, and hides nothing that comes after it.
    assert _still_possible([TRAY, award(30, 20, 10)], holds(*now)) is is_possible


def test_a_second_award_is_drawn_from_what_the_first_left_and_brought() -> None:
    """Catches: seed or reserve of a reseed forgotten, or put into the wrong part."""
    first = award(30, 20, 10, seed=50)
    assert _still_possible([first, award(10, 50, 0)], holds(30, 20, 10))
    for too_much in (award(11, 0, 0), award(0, 51, 0), award(0, 0, 1)):
        assert not _still_possible([first, too_much], holds(30, 20, 10))
