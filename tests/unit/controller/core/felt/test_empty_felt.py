"""The range of empty felt: its limits by the pad's noise, its flutter, and what it follows."""

from __future__ import annotations

import pytest

from controller.core.felt.empty_felt import EmptyFelt
from controller.core.felt.tuning import (
    CREEP_MAX_CHIPS,
    CREEP_MS,
    CREEP_STEP_CHIPS,
    SINK_MIN_CHIPS,
)


@pytest.mark.parametrize(
    ("noise", "leave", "back", "sink"),
    [
        (0.0, 0.12, 0.09, 0.05),
        (0.01, 0.15, 0.09, 0.05),
        (0.02, 0.18, 0.09, 0.10),
        (0.03, 0.27, 0.135, 0.15),
        (0.06, 0.43, 0.1875, 0.30),
    ],
)
def test_a_noisy_pad_gets_a_wider_range_but_none_that_a_chip_fits_into(
    noise: float, leave: float, back: float, sink: float
) -> None:
    felt = EmptyFelt(noise)
    assert felt.leave_limit == pytest.approx(leave)
    assert felt.return_limit == pytest.approx(back)
    assert [felt.sinks(level) for level in (-sink + 0.001, -sink - 0.001)] == [False, True]
    for sign in (1, -1):
        inside, outside = sign * (leave - 0.001), sign * (leave + 0.001)
        assert [felt.reads_empty(each, 0.0, True) for each in (inside, outside)] == [True, False]
        inside, outside = sign * (back - 0.001), sign * (back + 0.001)
        assert [felt.reads_empty(each, 0.0, False) for each in (inside, outside)] == [True, False]
        assert [felt.is_back(each) for each in (inside, outside)] == [True, False]


@pytest.mark.parametrize(
    ("base", "level", "is_empty"),
    [
        (0.2, 0.0, True),  # what lay on risen felt is gone, and the felt went back
        (0.2, 0.2, True),
        (0.2, 0.31, True),
        (0.2, 0.33, False),
        (0.3, CREEP_MAX_CHIPS, True),
        (0.3, CREEP_MAX_CHIPS + 0.01, False),  # no felt reads so much
        (-0.2, -0.2, True),
        (-0.2, -0.31, True),
        (-0.2, 0.0, False),  # on sunk felt that is a thing
        (-0.3, -CREEP_MAX_CHIPS, True),
        (-0.3, -CREEP_MAX_CHIPS - 0.01, False),
    ],
)
def test_drifted_felt_is_empty_where_it_was(base: float, level: float, is_empty: bool) -> None:
    assert EmptyFelt(0.0).reads_empty(level, base, True) is is_empty


@pytest.mark.parametrize(
    ("passed_ms", "level"),
    [(0, 0.0), (CREEP_MS // 4, 0.05), (CREEP_MS // 2, 0.1), (CREEP_MS, 0.2), (9 * CREEP_MS, 0.2)],
)
def test_a_level_is_followed_by_the_time_that_passed(passed_ms: int, level: float) -> None:
    """Catches: following at once, never, or beyond."""
    felt = EmptyFelt(0.01)
    felt.follow(0.2, passed_ms)
    assert felt.level == pytest.approx(level)
    felt.begin(0.05)
    assert felt.level == 0.05
    felt.follow(0.15, CREEP_MS // 2)
    assert felt.level == pytest.approx(0.1)


def test_felt_creeps_in_small_steps_and_not_too_far() -> None:
    felt = EmptyFelt(0.01)
    felt.begin(0.3)
    near, far = CREEP_STEP_CHIPS - 0.001, CREEP_STEP_CHIPS + 0.001
    assert [felt.creeps(0.3 - each) for each in (near, far)] == [True, False]
    assert [felt.creeps(each) for each in (CREEP_MAX_CHIPS, CREEP_MAX_CHIPS + 0.001)] == [
        True,
        False,
    ]
    felt.begin(-0.3)
    assert [felt.creeps(-each) for each in (CREEP_MAX_CHIPS, CREEP_MAX_CHIPS + 0.001)] == [
        True,
        False,
    ]


def test_one_jump_is_no_flutter_and_readings_that_go_on_jumping_are() -> None:
    felt = EmptyFelt(0.01)
    assert [felt.flutters(level) for level in (0.5, 0.5, 0.5)] == [False] * 3
    felt.begin(0.0)
    jumping = [felt.flutters(0.1 if number % 2 else 0.0) for number in range(8)]
    assert jumping == [False, False, False, True, True, True, True, True]
    felt.begin(0.0)
    assert not felt.flutters(0.01), "what fluttered before is forgotten"
    quiet = [felt.flutters(0.015 if number % 2 else -0.015) for number in range(40)]
    assert not any(quiet)


def test_at_its_limits_it_is_still_empty_felt() -> None:
    felt = EmptyFelt(0.0)
    for sign in (1, -1):
        assert felt.reads_empty(sign * felt.leave_limit, 0.0, True)
        assert felt.reads_empty(sign * felt.return_limit, 0.0, False)
        assert felt.is_back(sign * felt.return_limit)
        assert felt.creeps(sign * CREEP_STEP_CHIPS)
        drifted = [0.125 + sign * felt.leave_limit, -0.125 + sign * felt.leave_limit]
        assert felt.reads_empty(drifted[0], 0.125, True)
        assert felt.reads_empty(drifted[1], -0.125, True)
    assert not felt.sinks(-SINK_MIN_CHIPS)
    assert not felt.flutters(0.0), "a pad without any noise does not flutter by itself"
