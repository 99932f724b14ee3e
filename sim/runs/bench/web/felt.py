"""Where everything lies on the drawn felt, seen from above with the dealer at the top edge.

The dealer looks down the page at the players, so the dealer's left hand, and seat 1, is at the
right of the picture and the last seat at the left. Units are those of the drawing, 1000 wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

CENTRE = (500.0, 88.0)
SPOT_RADII = (356.0, 372.0)
PLAQUE_RADII = (463.0, 484.0)
FIRST_DEGREES = 9.0
LAST_DEGREES = 171.0
PAIR_GAP = 108.0  # a seat's second sensor lies this much nearer to the dealer


@dataclass(frozen=True)
class Spot:
    """One sensor's place on the felt."""

    sensor: str
    x: float
    y: float


@dataclass(frozen=True)
class Place:
    """One seat: its number's plaque on the rail, and its spots."""

    seat: int
    x: float
    y: float
    spots: list[Spot]


def places(seats: list[dict[str, Any]]) -> list[Place]:
    return [_place(seat, _angle(index, len(seats))) for index, seat in enumerate(seats)]


def _angle(index: int, count: int) -> float:
    if count == 1:
        return math.pi / 2
    share = index / (count - 1)
    return math.radians(FIRST_DEGREES + share * (LAST_DEGREES - FIRST_DEGREES))


def _place(seat: dict[str, Any], angle: float) -> Place:
    x, y = _on_ellipse(PLAQUE_RADII, angle)
    spots = [_spot(sensor["id"], angle, row) for row, sensor in enumerate(seat["sensors"])]
    return Place(seat["seat"], x, y, spots)


def _spot(sensor: str, angle: float, row: int) -> Spot:
    inwards = row * PAIR_GAP
    return Spot(sensor, *_on_ellipse((SPOT_RADII[0] - inwards, SPOT_RADII[1] - inwards), angle))


def _on_ellipse(radii: tuple[float, float], angle: float) -> tuple[float, float]:
    x = CENTRE[0] + radii[0] * math.cos(angle)
    return round(x, 1), round(CENTRE[1] + radii[1] * math.sin(angle), 1)
