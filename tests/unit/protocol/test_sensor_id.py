"""A sensor's id is read in one place, and what is none is refused with a sentence."""

from __future__ import annotations

import re

import pytest

from controller.core.felt.spot import Spot
from protocol import sensor_id
from protocol.wire.rows import SENSOR

NONSENSE = ["", "A", "5", "5a", "0A", "05A", "100A", "-1A", "²A", "5Ä", "5AB", " 5A", "5A\n"]


def test_an_id_is_a_seat_and_a_letter() -> None:
    assert (sensor_id.seat_of("12B"), sensor_id.letter_of("12B")) == (12, "B")


@pytest.mark.parametrize("text", NONSENSE)
def test_what_is_no_id_is_refused_with_a_sentence(text: str) -> None:
    assert not sensor_id.is_sensor_id(text)
    for read in (sensor_id.seat_of, sensor_id.letter_of, sensor_id.pay_order):
        with pytest.raises(ValueError, match="is no sensor: a seat's number and a game's letter"):
            read(text)


def test_the_wire_takes_the_same_ids() -> None:
    assert SENSOR.pattern
    known = re.compile(SENSOR.pattern)
    seats = range(120)
    for text in NONSENSE + [f"{seat}{letter}" for seat in seats for letter in "AZa"]:
        assert sensor_id.is_sensor_id(text) == bool(known.fullmatch(text)), text


def test_the_highest_seat_is_paid_first_and_the_lowest_listed_first() -> None:
    spots = ["2B", "10A", "2A", "12A"]
    assert sorted(spots, key=sensor_id.pay_order) == ["12A", "10A", "2A", "2B"]
    assert sorted(spots, key=sensor_id.seat_order) == ["2A", "2B", "10A", "12A"]


def test_a_spot_without_a_seat_has_no_place_on_the_felt() -> None:
    """It was taken for seat 0 once, beside seat 1, and would have shared that one's spills."""
    with pytest.raises(ValueError, match="is no sensor"):
        Spot("bet")
