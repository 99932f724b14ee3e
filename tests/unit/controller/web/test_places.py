"""Seats stand where the dealer sees them: on the panel and on the drawn felt."""

from __future__ import annotations

import itertools
import math

import pytest

from controller.web.arc import STEPS, arc_steps
from sim.runs.bench.web.felt import places
from tests.kit.bench_views import bench_seats

COUNTS = range(1, 10)


@pytest.mark.parametrize("count", COUNTS)
def test_the_panels_arc_is_even_on_both_sides(count: int) -> None:
    drops = arc_steps(count)
    assert len(drops) == count
    assert drops == drops[::-1]
    assert drops[: (count + 1) // 2] == sorted(drops[: (count + 1) // 2], reverse=True)


@pytest.mark.parametrize("count", [2, 5, 7, 9])
def test_the_end_seats_are_nearest_to_the_dealer(count: int) -> None:
    assert arc_steps(count)[0] == STEPS


def test_a_table_without_seats_has_no_arc() -> None:
    assert arc_steps(0) == []


@pytest.mark.parametrize("count", range(2, 10))
def test_seat_one_is_at_the_dealers_left_who_faces_down_the_page(count: int) -> None:
    drawn = places(bench_seats(["off"] * count))
    xs = [place.spots[0].x for place in drawn]
    assert [place.seat for place in drawn] == list(range(1, count + 1))
    assert xs == sorted(xs, reverse=True)


@pytest.mark.parametrize("letters", ["A", "AB"])
@pytest.mark.parametrize("count", [5, 7, 8])
def test_no_two_spots_lie_on_each_other(count: int, letters: str) -> None:
    drawn = places(bench_seats(["off"] * count, letters))
    spots = [spot for place in drawn for spot in place.spots]
    assert len(spots) == count * len(letters)
    lens_diameter = 72
    for one, other in itertools.combinations(spots, 2):
        assert math.hypot(one.x - other.x, one.y - other.y) > lens_diameter, (one, other)


def test_every_spot_lies_on_the_felt() -> None:
    for place in places(bench_seats(["off"] * 9, "AB")):
        for spot in place.spots:
            # The felt's lower edge is an ellipse around (500, 70).
            assert math.hypot((spot.x - 500) / 444, (spot.y - 70) / 476) < 1
            assert spot.y > 70
