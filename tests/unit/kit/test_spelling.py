"""Two spellings of one person are one person."""

from __future__ import annotations

import pytest

from kit.spelling import NAME_MAX, clean, id_of, is_one_person, problem_with

ONE = [
    ("Ann Lee", "ann lee"),
    ("Ann Lee", "  ANN   LEE "),
    ("Ann Lee", "Ann\u00a0Lee"),
    ("Ann Lee", "Ann-Lee"),
    ("Ann", "Аnn"),  # a Cyrillic A
    ("Ann", "Ａｎｎ"),  # full width
    ("José", "Jose"),
    ("José", "Jose\u0301"),
    ("Ian", "lan"),  # a big i and a small L
    ("Ian", "ian"),
    ("Bob 0", "Bob O"),
    ("Νora", "Nora"),  # a Greek N
    ("Straße", "STRASSE"),
]


@pytest.mark.parametrize(("first", "second"), ONE)
def test_one_person_however_spelled(first: str, second: str) -> None:
    """Catches: comparing by case alone, as two names on a command line once were."""
    assert is_one_person(first, second)
    assert is_one_person(second, first)


@pytest.mark.parametrize(
    ("first", "second"), [("Ann", "Anna"), ("Marion", "Marlon"), ("Operator 1", "Operator 2")]
)
def test_two_people_stay_two(first: str, second: str) -> None:
    assert not is_one_person(first, second)


def test_a_name_is_found_however_it_is_typed() -> None:
    assert id_of(" ANN  Lee") == id_of("Ann Lee")
    assert clean(" Ann   Lee ") == "Ann Lee"


@pytest.mark.parametrize(
    "name", ["", "   ", "-", "Ann\u200bLee", "Ann<b>", "A\u202eB", "x" * (NAME_MAX + 1), "a\x00b"]
)
def test_what_cannot_be_a_name_is_said(name: str) -> None:
    assert problem_with(name)


@pytest.mark.parametrize("name", ["Ann", "Jean-Luc O'Neil", "李雷", "Zoë", "Pit 3"])
def test_what_can_be_a_name(name: str) -> None:
    assert problem_with(name) == ""
