"""How a thing came to its spot: what is a drop, and what is not."""

from __future__ import annotations

import pytest

from controller.core.felt.arrival import JUMPED, SEEN, STEPPED, UNSEEN, Arrival
from controller.core.felt.tuning import (
    CLEAN_PART,
    GAP_MAX_MS,
    JUMPED_MIN_CHIPS,
    LANDING_MS,
    STEP_FIRST_PART,
    STEP_JUMP_TIMES,
    STEP_MARGIN_PART,
    TOUCH_LAG_MS,
)

NOISE = 0.01


def came(level: float, origin: int) -> Arrival:
    arrival = Arrival(NOISE)
    arrival.begin(level, origin)
    return arrival


@pytest.mark.parametrize(
    ("origin", "is_drop"), [(STEPPED, True), (JUMPED, True), (SEEN, False), (UNSEEN, False)]
)
def test_only_what_came_in_one_step_dropped(origin: int, is_drop: bool) -> None:
    """Catches: `is_drop` answering True for what was there before or came in several steps."""
    assert came(1.0, origin).is_drop(1.0) is is_drop


@pytest.mark.parametrize(
    ("other", "age_ms"),
    [
        (0.5, GAP_MAX_MS + 1),
        (1.6, GAP_MAX_MS + 1),
        (0.5, LANDING_MS + 1),  # not landing any more, and hardly there
        (1.4, LANDING_MS + 1),
    ],
)
def test_what_has_left_its_level_since_is_no_drop(other: float, age_ms: int) -> None:
    arrival = came(1.0, STEPPED)
    arrival.see(other, age_ms, False)
    arrival.see(1.0, GAP_MAX_MS + 2, False)
    assert not arrival.is_drop(1.0)


def test_what_showed_little_of_itself_at_first_is_no_drop() -> None:
    assert came(1.0, STEPPED).is_drop(1.0)
    slow = came(0.3, STEPPED)
    slow._high = slow._low = 1.0
    assert not slow.is_drop(1.0)


def test_from_empty_felt_a_moment_ago_any_first_reading_will_do() -> None:
    arrival = Arrival(NOISE)
    arrival.begin_from_empty(0.3, GAP_MAX_MS, prompt=False)
    assert arrival.origin == STEPPED
    arrival.see(1.0, 4, False)
    assert arrival.is_drop(1.0)
    assert not arrival.is_clean_drop(1.0)


def test_on_its_way_from_empty_felt_a_drop_may_have_shown_hardly_anything() -> None:
    """Catches: the first reading held against a chip whose whole fall was seen."""
    arrival = Arrival(NOISE)
    arrival.begin_from_empty(0.41, GAP_MAX_MS, prompt=False)
    for age_ms, level in ((4, 0.6), (8, 0.85), (12, 1.0)):
        arrival.see(level, age_ms, False)
    assert arrival.is_drop(1.0)


def test_before_anything_came_nothing_is_known_of_it() -> None:
    assert Arrival(NOISE).origin == UNSEEN


@pytest.mark.parametrize(
    ("level", "prompt", "origin"),
    [
        (1.0, True, STEPPED),
        (1.0, False, JUMPED),
        (JUMPED_MIN_CHIPS, False, JUMPED),
        (JUMPED_MIN_CHIPS - 0.01, False, SEEN),
    ],
)
def test_after_a_gap_the_interrupt_or_the_size_of_the_step_tells(
    level: float, prompt: bool, origin: int
) -> None:
    arrival = Arrival(NOISE)
    arrival.begin_from_empty(level, GAP_MAX_MS + 1, prompt)
    assert arrival.origin == origin


# -- the first readings --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age_ms", "prompt", "before", "origin"),
    [
        (TOUCH_LAG_MS, True, SEEN, STEPPED),
        (TOUCH_LAG_MS + 1, True, SEEN, SEEN),
        (TOUCH_LAG_MS, False, SEEN, SEEN),
        (TOUCH_LAG_MS, True, UNSEEN, UNSEEN),  # the IC has begun to measure, no more
    ],
)
def test_an_interrupt_right_after_the_first_reading_tells_of_a_fall(
    age_ms: int, prompt: bool, before: int, origin: int
) -> None:
    """Catches: a chip missed because a reading out of turn was ahead of its touch bit."""
    arrival = came(0.8, before)
    arrival.see(1.0, age_ms, prompt)
    assert arrival.origin == origin
    assert arrival.is_drop(1.0) is (origin == STEPPED)


@pytest.mark.parametrize(
    ("level", "age_ms", "origin"),
    [
        (STEP_JUMP_TIMES * 0.5 + 0.01, GAP_MAX_MS, STEPPED),
        (STEP_JUMP_TIMES * 0.5, GAP_MAX_MS, SEEN),
        (STEP_JUMP_TIMES * 0.5 + 0.01, GAP_MAX_MS + 1, SEEN),
    ],
)
def test_what_grows_so_much_from_one_reading_to_the_next_falls(
    level: float, age_ms: int, origin: int
) -> None:
    arrival = came(0.5, SEEN)
    arrival.see(level, age_ms, False)
    assert arrival.origin == origin
    assert arrival.is_drop(level) is (origin == STEPPED)


def test_what_is_caught_on_its_way_down_may_show_little_at_first() -> None:
    arrival = came(0.3, SEEN)
    arrival.see(1.0, 8, False)
    assert arrival.is_drop(1.0), "no hand comes that far between two readings"


@pytest.mark.parametrize(("first", "is_drop"), [(0.43, True), (0.41, False)])
def test_nearly_half_of_a_drop_shows_in_its_first_reading(first: float, is_drop: bool) -> None:
    arrival = came(first, STEPPED)
    for age_ms, level in ((4, 0.6), (8, 0.85), (12, 1.0)):
        assert arrival.see(level, age_ms, False) is True
    assert arrival.is_drop(1.0) is is_drop


@pytest.mark.parametrize(
    ("other", "is_drop"), [(0.9, True), (0.88, False), (1.1, True), (1.12, False)]
)
def test_a_drop_keeps_its_level_but_for_a_little(other: float, is_drop: bool) -> None:
    arrival = came(1.0, STEPPED)
    assert arrival.see(other, GAP_MAX_MS + 1, False) is False
    assert arrival.see(1.0, GAP_MAX_MS + 2, False) is False
    assert arrival.is_drop(1.0) is is_drop


@pytest.mark.parametrize(("first", "is_clean"), [(0.961, True), (0.959, False)])
def test_a_clean_drop_shows_whole_in_the_very_first_reading(first: float, is_clean: bool) -> None:
    assert came(first, STEPPED).is_clean_drop(1.0) is is_clean
    assert not came(first, JUMPED).is_clean_drop(1.0)
    # What it showed later does not make it clean.
    landed = came(0.8, STEPPED)
    landed.see(1.0, LANDING_MS, False)
    assert not landed.is_clean_drop(1.0)


@pytest.mark.parametrize(
    ("level", "age_ms", "is_landing", "is_drop"),
    [
        (1.0, LANDING_MS, True, True),
        (1.0, LANDING_MS + 1, False, False),
        (0.82, LANDING_MS, False, True),  # no more than noise
    ],
)
def test_a_second_reading_may_still_find_it_landing(
    level: float, age_ms: int, is_landing: bool, is_drop: bool
) -> None:
    arrival = came(0.8, STEPPED)
    assert arrival.see(level, age_ms, False) is is_landing
    assert arrival.is_drop(level) is is_drop


def test_what_falls_back_while_it_lands_has_not_kept_its_level() -> None:
    arrival = came(1.0, STEPPED)
    assert arrival.see(0.8, LANDING_MS, False) is False
    assert not arrival.is_drop(1.0)
    assert not arrival.is_drop(0.8)


# -- at the limits themselves --------------------------------------------------------------------


def noiseless(level: float) -> Arrival:
    arrival = Arrival(0.0)
    arrival.begin(level, STEPPED)
    return arrival


@pytest.mark.parametrize("other", [1.0 - STEP_MARGIN_PART, 1.0 + STEP_MARGIN_PART])
def test_at_its_margin_it_has_kept_its_level(other: float) -> None:
    arrival = noiseless(1.0)
    arrival.see(other, GAP_MAX_MS + 1, False)
    assert arrival.is_drop(1.0)


def test_exactly_enough_in_the_first_reading_is_enough() -> None:
    arrival = noiseless(STEP_FIRST_PART)
    for age_ms, level in ((4, 0.6), (8, 0.85), (12, 1.0)):
        arrival.see(level, age_ms, False)
    assert arrival.is_drop(1.0)
    assert noiseless(CLEAN_PART).is_clean_drop(1.0)


def test_the_same_reading_again_is_not_landing() -> None:
    assert noiseless(0.8).see(0.8, TOUCH_LAG_MS, True) is False
    fallen_back = noiseless(1.0)
    fallen_back.see(0.9, 4, False)
    fallen_back.see(0.9, 8, False)
    assert not fallen_back.is_drop(0.9), "it was higher, and that is held against it"
