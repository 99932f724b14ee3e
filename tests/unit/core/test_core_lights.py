"""Seven lights, told apart by pattern alone."""

from __future__ import annotations

import pytest

from controller.core import commands, lights

FULL, DIM, LOW = 4095, 614, 1229


def timeline(name: str) -> list[tuple[int, int, int]]:
    """(start_ms, white, amber) of each stretch in one period, found by looking at every ms."""
    seen: list[tuple[int, int, int]] = []
    for t_ms in range(1000):
        levels = lights.levels_at(name, t_ms)
        if not seen or seen[-1][1:] != levels:
            seen.append((t_ms, *levels))
    return seen


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("off", [(0, 0, 0)]),
        ("detected", [(0, DIM, 0)]),
        ("accepted", [(0, FULL, 0)]),
        ("refused", [(0, 819, 0), (250, 0, 0), (500, 819, 0), (750, 0, 0)]),
        ("late", [(0, 0, FULL), (700, 0, 0)]),
        ("winner", [(0, FULL, 0), (500, LOW, 0)]),
        (
            "fault",
            [(0, 0, FULL), (100, 0, 0), (200, 0, FULL), (300, 0, 0), (400, 0, FULL), (500, 0, 0)],
        ),
    ],
)
def test_the_patterns(name, expected):
    assert timeline(name) == expected


def test_the_patterns_repeat_every_second_and_differ_without_colour():
    shapes = set()
    for name in lights.NAMES:
        assert lights.levels_at(name, 123) == lights.levels_at(name, 5_123)
        shapes.add(tuple((t_ms, white + amber) for t_ms, white, amber in timeline(name)))
    assert len(shapes) == len(lights.NAMES)


@pytest.mark.parametrize("name", lights.NAMES)
def test_the_next_change_is_the_next_change(name):
    wait_ms = lights.next_change_ms(name, 90)
    if wait_ms == 0:
        assert len(timeline(name)) == 1
        return
    before = lights.levels_at(name, 90)
    assert all(lights.levels_at(name, 90 + t) == before for t in range(wait_ms))
    assert lights.levels_at(name, 90 + wait_ms) != before


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
    touch.accept(commands.end())
    assert lights.light_of("5A", "absent", touch.state, 9_000) == "off"
