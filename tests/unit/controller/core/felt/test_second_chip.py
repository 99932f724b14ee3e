"""What lies on a chip: an addition counts once, and drift is none."""

from __future__ import annotations

import pytest

from controller.core.felt.second_chip import Pile
from controller.core.felt.tuning import (
    ADDED_MAX_CHIPS,
    ADDED_MIN_CHIPS,
    PILE_FOLLOW_MS,
    PILE_MIN_CHIPS,
)

NOISE = 0.01


def resting_chip(level: float = 1.0) -> Pile:
    pile = Pile(NOISE)
    pile.rest(level, 0)
    return pile


def fallen(pile: Pile, level: float, now_ms: int) -> None:
    pile.leave(level, now_ms)
    pile.see(level, now_ms + 10)
    assert pile.fell(level)
    pile.note_fallen(level)


def test_a_chip_that_falls_on_a_chip_counts_once() -> None:
    """Catches: `_is_up` left True by `_note`. What comes next would count as one more drop."""
    pile = resting_chip()
    fallen(pile, 1.8, 500)
    assert (pile.count, pile.began_ms) == (1, 500)
    assert not pile.fell(1.8)
    pile.see(2.6, 520)
    assert not pile.fell(2.6), "the pile has not rested as a chip since"
    pile.rest(1.8, 10)
    fallen(pile, 2.6, 900)
    assert (pile.count, pile.began_ms) == (2, 900)


def test_a_spot_without_a_known_chip_has_no_addition() -> None:
    pile = Pile(NOISE)
    pile.leave(1.8, 0)
    pile.see(1.8, 10)
    assert not pile.fell(1.8)
    known = resting_chip()
    known.clear()
    known.leave(1.8, 0)
    known.see(1.8, 10)
    assert not known.fell(1.8)


def test_a_chip_that_slowly_weighs_more_is_followed_and_its_weight_is_no_addition() -> None:
    """Catches: `rest` not following the level. The drift would be added to the next move."""
    pile = resting_chip(1.1)
    pile.rest(1.5, PILE_FOLLOW_MS)
    pile.note_left_behind(1.6, 700)
    assert pile.count == 0
    stale = resting_chip(1.1)
    stale.note_left_behind(1.6, 700)
    assert (stale.count, stale.began_ms) == (1, 700)


def test_what_a_hand_leaves_at_the_same_weight_is_the_same_chip() -> None:
    pile = resting_chip()
    pile.leave(1.8, 100)
    pile.note_left_behind(1.0, 300)
    assert pile.count == 0
    assert not pile.fell(1.8), "nothing left the chip since"


def test_a_chip_that_is_back_at_its_level_has_nothing_on_it() -> None:
    pile = resting_chip()
    pile.leave(1.8, 100)
    pile.rest(1.0, 10)
    pile.see(1.8, 120)
    assert not pile.fell(1.8), "only a new step from the resting chip can tell"


def test_what_was_higher_a_moment_before_did_not_fall_there() -> None:
    """Catches: the second reading taken for the first of a drop, as after an interrupt."""
    pile = resting_chip()
    pile.leave(2.6, 500)
    pile.see(1.8, 510)
    assert not pile.fell(1.8)


@pytest.mark.parametrize(
    ("passed_ms", "known"),
    [(0, 1.0), (PILE_FOLLOW_MS // 2, 1.3), (PILE_FOLLOW_MS, 1.6), (2 * PILE_FOLLOW_MS, 1.6)],
)
def test_a_resting_chip_is_followed_by_the_time_that_passed(passed_ms: int, known: float) -> None:
    """Catches: following at once, never or too far, and either bound of an addition."""
    for more, counted in (
        (ADDED_MIN_CHIPS - 0.01, 0),
        (ADDED_MIN_CHIPS + 0.01, 1),
        (ADDED_MAX_CHIPS - 0.01, 1),
        (ADDED_MAX_CHIPS + 0.01, 0),
    ):
        pile = resting_chip()
        pile.rest(1.6, passed_ms)
        pile.note_left_behind(known + more, 700)
        assert pile.count == counted, more


def test_nothing_was_added_to_a_spot_that_is_new() -> None:
    assert (Pile(NOISE).count, Pile(NOISE).began_ms) == (0, 0)


def test_what_goes_on_moving_after_it_came_did_not_fall() -> None:
    """Catches: a hand over a chip, told as a chip that was laid on it after the lock."""
    pile = resting_chip()
    pile.leave(1.8, 500)
    pile.see(2.3, 600)
    assert not pile.fell(1.8)


def test_a_chip_that_is_forgotten_while_something_is_on_it_has_no_addition() -> None:
    pile = resting_chip()
    pile.leave(1.8, 500)
    pile.clear()
    pile.see(1.8, 510)
    assert not pile.fell(1.8)


def test_what_a_hand_left_is_what_the_next_addition_is_measured_from() -> None:
    pile = resting_chip()
    pile.note_left_behind(1.2, 500)
    pile.note_left_behind(1.55, 900)
    assert pile.count == 0


@pytest.mark.parametrize(
    ("known", "level", "count"),
    [
        (1.0, 1.0 + ADDED_MIN_CHIPS, 1),
        (1.0, 1.0 + ADDED_MIN_CHIPS - 0.01, 0),
        (1.0, 1.0 + ADDED_MAX_CHIPS, 1),
        (1.0, 1.0 + ADDED_MAX_CHIPS + 0.01, 0),
        (0.7, PILE_MIN_CHIPS, 1),
        (0.7, PILE_MIN_CHIPS - 0.01, 0),
    ],
)
def test_how_much_more_a_second_chip_weighs(known: float, level: float, count: int) -> None:
    pile = resting_chip(known)
    pile.note_left_behind(level, 500)
    assert pile.count == count
