"""What people say becomes a command: seats as they are written, and when the felt moved."""

from __future__ import annotations

import pytest

from controller.core.round import commands


@pytest.mark.parametrize(
    ("text", "seat"),
    [
        ("3", (3, "")),
        ("3B", (3, "B")),
        ("0", (0, "")),
        ("9", (9, "")),
        ("10A", (10, "A")),
        ("99Z", (99, "Z")),
        ("100", (0, "")),
        ("", (0, "")),
        ("A", (0, "")),
        ("3b", (0, "")),
        ("3AB", (0, "")),
        ("/", (0, "")),  # the characters beside the digits
        (":", (0, "")),
        ("3@", (0, "")),  # and beside the letters
        ("3[", (0, "")),
        ("-1", (0, "")),
        ("\u0663", (0, "")),  # a digit to Python, and to no keypad
    ],
)
def test_a_seat_is_one_or_two_digits_and_a_letter(text: str, seat: tuple[int, str]) -> None:
    assert commands.parse_seat(text) == seat


@pytest.mark.parametrize(
    ("command", "timed"),
    [
        (commands.late("3A", True, 900), ("LATE", "3A", True, 4_900)),
        (commands.added("3A", 700), ("ADDED", "3A", 4_700)),
        (commands.tick(3, 1_000), ("TICK", 3, 5_000)),
        (commands.tick(3, 1_001), ("TICK", 3, 5_000)),  # later than now: as long as ticks reach
        (commands.end(), ("END",)),
        (commands.jpot("RUN"), ("JPOT", "RUN")),
    ],
)
def test_what_is_timed_is_told_as_a_time_of_the_round(
    command: tuple[object, ...], timed: tuple[object, ...]
) -> None:
    assert commands.since_lock(command, now_ms=1_000, round_age_ms=5_000) == timed


def test_what_began_before_the_lock_is_less_than_nothing() -> None:
    late = commands.since_lock(commands.late("3A", False, 100), now_ms=1_000, round_age_ms=300)
    assert late == ("LATE", "3A", False, -600)


def test_rows_of_the_wire_compare_equal_to_ours() -> None:
    lines, envy = (("5A", "four-aces", 700, "main", 1),), (("2A", 100),)
    assert commands.award(1, lines, envy, 2, False)[2:4] == (  # type: ignore[arg-type]
        [["5A", "four-aces", 700, "main", 1]],
        [["2A", 100]],
    )
