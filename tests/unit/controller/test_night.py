"""The hours of a room's night, from its table file to the part of the light."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from controller.config import parse_unit_config
from controller.night import LightsSection, percent_at
from kit.config import ConfigError
from tests.kit.places import table_path

SHIPPED = table_path("four-card-touch").read_text("utf-8")
SECTION = """
[lights]
night_percent = 40
night_from = "22:00"
night_until = "07:00"
"""


def at(lights: LightsSection, hour: int, minute: int = 0) -> int:
    moment = datetime(2026, 7, 1, hour, minute, tzinfo=UTC)
    return percent_at(lights, int(moment.timestamp()) * 1000)


def test_without_a_word_the_lights_are_whole_day_and_night() -> None:
    lights = parse_unit_config(SHIPPED).lights
    assert [at(lights, hour) for hour in (0, 12, 23)] == [100, 100, 100]


def test_a_night_goes_past_midnight_and_ends_to_the_minute() -> None:
    lights = parse_unit_config(SHIPPED + SECTION).lights
    assert [at(lights, 21, 59), at(lights, 22), at(lights, 0), at(lights, 6, 59)] == [
        100, 40, 40, 40,
    ]  # fmt: skip
    assert at(lights, 7) == 100


def test_a_dark_afternoon_is_a_night_too() -> None:
    lights = LightsSection(night_percent=50, night_from="13:00", night_until="17:30")
    assert [at(lights, 12, 59), at(lights, 13), at(lights, 17, 29), at(lights, 17, 30)] == [
        100, 50, 50, 100,
    ]  # fmt: skip


def test_the_hours_are_those_of_the_house() -> None:
    text = SHIPPED + SECTION + 'zone = "America/Los_Angeles"\n'
    lights = parse_unit_config(text).lights
    assert [at(lights, 6), at(lights, 4), at(lights, 14)] == [40, 100, 100]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("night_percent = 10", "is not between 25 and 100"),
        ('night_from = "25:00"', "is not a time of day like 22:30"),
        ('zone = "Mars"', "is not a time zone like America/Los_Angeles"),
        ("night_percent = 40", "night_from is missing|night_from: is missing"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(line: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        parse_unit_config(f"{SHIPPED}\n[lights]\n{line}\n")
