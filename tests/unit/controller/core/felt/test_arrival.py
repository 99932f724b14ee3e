"""How a thing came to its spot: what is a drop, and what is not."""

from __future__ import annotations

import pytest

from controller.core.felt.arrival import JUMPED, SEEN, STEPPED, UNSEEN, Arrival
from controller.core.felt.tuning import GAP_MAX_MS, JUMPED_MIN_CHIPS, LANDING_MS, STACK_MAX_CHIPS

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
    assert arrival._first == STACK_MAX_CHIPS


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
