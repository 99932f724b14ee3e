"""Eight lights, told apart by pattern alone, in a lit room and in a dark one."""

from __future__ import annotations

import pytest

from controller.core import lights
from controller.core.round import commands

FULL = 4095


def timeline(name: str, percent: int = 100) -> list[tuple[int, int, int]]:
    """(start_ms, white, amber) of each stretch in two seconds, found by looking at every ms."""
    seen: list[tuple[int, int, int]] = []
    for t_ms in range(2000):
        levels = lights.levels_at(name, t_ms, percent)
        if not seen or seen[-1][1:] != levels:
            seen.append((t_ms, *levels))
    return seen


def blink(*stretches: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """The stretches of one second, twice."""
    later = [(t_ms + 1000, white, amber) for t_ms, white, amber in stretches]
    return [*stretches, *later]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("off", [(0, 0, 0)]),
        ("accepted", [(0, FULL, 0)]),
        ("late", blink((0, 0, FULL), (700, 0, 0))),
        (
            "fault",
            blink(
                (0, 0, FULL),
                (150, 0, 0),
                (250, 0, FULL),
                (400, 0, 0),
                (500, 0, FULL),
                (650, 0, 0),
            ),
        ),
        ("find", [(t, *((FULL, 0), (0, FULL))[t // 125 % 2]) for t in range(0, 2000, 125)]),
    ],
)
def test_the_patterns_that_switch(name, expected):
    assert timeline(name) == expected


@pytest.mark.parametrize(
    ("name", "first", "last", "half_ms", "frame_ms"),
    [
        ("detected", 614, 205, 1000, 100),
        ("refused", 0, 1229, 500, 50),
        ("winner", FULL, 1229, 250, 50),
    ],
)
def test_a_fade_follows_from_the_time(name, first, last, half_ms, frame_ms):
    """Catches: a fade that counts its steps, and so is behind after a write that came late."""
    for t_ms in (*range(0, 2 * half_ms, 7), 123_456 * 2 * half_ms + 90):
        passed_ms = t_ms % (2 * half_ms) // frame_ms * frame_ms
        way = passed_ms if passed_ms < half_ms else 2 * half_ms - passed_ms
        white, amber = lights.levels_at(name, t_ms)
        assert abs(white - (first + (last - first) * way / half_ms)) <= 1
        assert amber == 0


def test_the_patterns_differ_without_colour():
    """Catches: two lights that only colour or brightness tells apart."""
    shapes = set()
    for name in lights.NAMES:
        assert lights.levels_at(name, 123) == lights.levels_at(name, 6_123)
        line = timeline(name)
        lit = [t_ms for t_ms, white, amber in line if white + amber]
        # Where it changes, and where it is dark; not how bright it is.
        shapes.add((tuple(t_ms for t_ms, _, _ in line), tuple(lit)))
    assert len(shapes) == len(lights.NAMES)


def test_a_table_in_training_looks_like_no_live_one():
    """Catches: a training whose lights could be taken for bets."""
    live = [timeline(name) for name in lights.NAMES]
    for name in lights.NAMES:
        look = lights.in_training(name)
        if name in ("fault", "find"):
            assert look == name
            continue
        assert timeline(look) not in live
    assert lights.levels_at("training-accepted", 0) == (0, FULL)
    assert lights.levels_at("training-off", 50) == (0, 1229)


def test_at_night_only_what_must_be_noticed_keeps_its_light():
    for name in ("refused", "fault", "find"):
        assert timeline(name, 25) == timeline(name)
    assert lights.levels_at("accepted", 0, 40) == (1638, 0)
    assert lights.levels_at("late", 0, 40) == (0, 1638)
    assert lights.levels_at("winner", 250, 50) == (614, 0)
    assert lights.levels_at("detected", 0, 50) == (307, 0)


@pytest.mark.parametrize("name", lights.NAMES)
def test_the_next_change_is_the_next_change(name):
    for t_ms in (0, 90, 749, 1999):
        wait_ms = lights.next_change_ms(name, t_ms)
        if wait_ms == 0:
            assert len(timeline(name)) == 1
            continue
        before = lights.levels_at(name, t_ms)
        assert all(lights.levels_at(name, t_ms + t) == before for t in range(wait_ms))
        assert lights.levels_at(name, t_ms + wait_ms) != before


def test_a_seat_is_found_between_games_where_nothing_lies(touch):
    """Catches: a search that hides a chip's light, or shakes the pad under it."""
    assert lights.finds("absent", touch.state)
    assert lights.finds("fault", touch.state)
    assert not lights.finds("present", touch.state)
    assert not lights.finds("unsure", touch.state)
    touch.start("2A")
    assert not lights.finds("absent", touch.state)


def test_an_open_table(touch):
    assert lights.light_of("2A", "absent", touch.state, 0) == "off"
    assert lights.light_of("2A", "present", touch.state, 0) == "detected"
    assert lights.light_of("2A", "fault", touch.state, 0) == "fault"


def test_a_locked_table(touch):
    touch.start("2A", "5A", refused=("3A",))
    assert lights.light_of("2A", "present", touch.state, 0) == "accepted"
    assert lights.light_of("5A", "absent", touch.state, 0) == "accepted"
    assert lights.light_of("3A", "present", touch.state, 0) == "refused"
    assert lights.light_of("4A", "absent", touch.state, 0) == "off"
    assert lights.light_of("4A", "fault", touch.state, 0) == "fault"
    assert lights.light_of("2A", "fault", touch.state, 0) == "accepted"


def test_a_chip_taken_from_an_accepted_spot_shows_late_for_two_seconds(touch):
    touch.start("2A")
    touch.accept(commands.late("2A", False, 1_000))
    assert lights.light_of("2A", "absent", touch.state, 1_000) == "late"
    assert lights.late_left_ms("2A", touch.state, 1_000) == 2_000
    assert lights.light_of("2A", "absent", touch.state, 2_999) == "late"
    assert lights.light_of("2A", "absent", touch.state, 3_000) == "accepted"
    assert lights.late_left_ms("2A", touch.state, 3_000) == 0


def test_a_chip_laid_on_an_accepted_spot_shows_late_for_four_seconds(touch):
    """It is certain only long after it came, and the dealer must still see it then."""
    touch.start("2A")
    touch.accept(commands.added("2A", 1_000))
    assert lights.late_left_ms("2A", touch.state, 2_800) == 2_200
    assert lights.light_of("2A", "present", touch.state, 4_999) == "late"
    assert lights.light_of("2A", "present", touch.state, 5_000) == "accepted"
    assert lights.late_left_ms("2A", touch.state, 5_000) == 0


def test_a_chip_taken_after_another_was_laid_there_shows_as_any_taken_chip(touch):
    touch.start("2A")
    touch.accept(commands.added("2A", 1_000))
    touch.accept(commands.late("2A", False, 1_500))
    assert lights.light_of("2A", "absent", touch.state, 3_499) == "late"
    assert lights.light_of("2A", "absent", touch.state, 3_500) == "accepted"


def test_a_chip_that_was_taken_and_put_back_shows_late_for_two_seconds(touch):
    """Catches: taking every chip that comes to a bet for one laid on it."""
    touch.start("2A")
    touch.accept(commands.late("2A", False, 1_000))
    touch.accept(commands.late("2A", True, 1_500))
    assert lights.light_of("2A", "present", touch.state, 3_499) == "late"
    assert lights.light_of("2A", "present", touch.state, 3_500) == "accepted"
    touch.accept(commands.added("2A", 4_000))
    assert lights.late_left_ms("2A", touch.state, 4_000) == 4_000


def test_a_chip_added_to_another_spot_shows_late_while_it_lies_there(touch):
    touch.start("2A")
    touch.accept(commands.late("4A", True, 1_000))
    assert lights.light_of("4A", "present", touch.state, 90_000) == "late"
    assert lights.light_of("4A", "absent", touch.state, 90_000) == "off"
    assert lights.late_left_ms("4A", touch.state, 1_000) == 0


def test_a_refused_spot_blinks_until_its_chip_is_taken_or_the_round_ends(touch):
    touch.start("2A", refused=("3A", "4A"))
    touch.accept(commands.late("3A", True, 20))
    assert lights.light_of("3A", "present", touch.state, 20) == "refused"
    touch.accept(commands.late("3A", False, 500))
    assert lights.light_of("3A", "absent", touch.state, 500) == "off"
    touch.accept(commands.late("3A", True, 900))
    assert lights.light_of("3A", "present", touch.state, 900) == "late"
    assert lights.light_of("4A", "present", touch.state, 900) == "refused"
    touch.accept(commands.end())
    assert lights.light_of("4A", "present", touch.state, 900) == "detected"


def test_a_refused_spot_on_which_nothing_lies_goes_dark_after_two_seconds(touch):
    touch.start("2A", refused=("3A",))
    assert lights.light_of("3A", "absent", touch.state, 1_999) == "refused"
    assert lights.late_left_ms("3A", touch.state, 1_999) == 1
    assert lights.light_of("3A", "absent", touch.state, 2_000) == "off"
    assert lights.light_of("3A", "present", touch.state, 2_000) == "refused"


def test_a_spot_that_was_being_left_at_the_lock_shows_its_refusal_for_two_seconds(touch):
    """Its sensor knows a moment after the lock that nothing lies there; the dealer must see why."""
    touch.start("2A", refused=("3A",))
    touch.accept(commands.late("3A", False, 60))
    assert lights.light_of("3A", "absent", touch.state, 1_999) == "refused"
    assert lights.light_of("3A", "absent", touch.state, 2_000) == "off"
    touch.accept(commands.late("3A", True, 5_000))
    assert lights.light_of("3A", "present", touch.state, 5_000) == "late"


def test_a_refused_start_lets_the_spots_blink_on_an_open_table(touch):
    touch.refuse(commands.start(touch.verdicts(refused=("3A",))))
    assert lights.light_of("3A", "present", touch.state, 0) == "refused"
    assert lights.late_left_ms("3A", touch.state, 0) == 0


def test_a_winner_from_the_selected_hand_to_the_end_of_the_game(touch):
    touch.start("2A", "5A")
    touch.accept(commands.late("5A", False, 100))
    touch.select(5, "four-aces")
    assert lights.light_of("5A", "absent", touch.state, 200) == "winner"
    touch.accept(commands.hand("four-aces"))
    assert lights.light_of("5A", "absent", touch.state, 200) == "late"
    touch.accept(commands.hand("four-aces"))
    touch.accept(commands.confirm())
    touch.award(100_000, role=2)
    touch.accept(commands.card(2, bytes(16)))
    touch.settle()
    assert lights.light_of("5A", "absent", touch.state, 9_000) == "winner"
    assert lights.light_of("5A", "fault", touch.state, 9_000) == "winner"
    touch.accept(commands.tick(5, 0))
    touch.accept(commands.end())
    assert lights.light_of("5A", "absent", touch.state, 9_000) == "off"
