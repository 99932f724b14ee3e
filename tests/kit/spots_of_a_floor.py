"""How the spots of five tables fare: two with bad pads, one in service, one that said nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from manager.link.connection import Connection
from manager.web.health.view import SpotHealthView
from protocol.wire.rows import SpotHealth

SEATS = 7
ADVICE = {
    ("UF-1", "3A"): (660, 104, "replace: a chip reads 66% of what it did and loses 1.1% a day"),
    ("UF-1", "6A"): (780, 101, "clean: a chip reads 78% of what it did"),
    ("UF-4", "2A"): (840, 100, "clean: a chip reads 84% of what it did, 79% in two weeks"),
    ("UF-4", "5A"): (990, 140, "clean: its noise is 1.4 times what was calibrated"),
    ("UF-2", "7A"): (1000, 100, "clean: the empty felt has drifted by 40% of a chip"),
}
TABLES = [
    ("four-card-1", "Four Card Poker 1", "UF-1", "open", "up"),
    ("four-card-2", "Four Card Poker 2", "UF-2", "service", "up"),
    ("pai-gow-3", "Face Up Pai Gow, high limit room", "UF-3", "open", "up"),
    ("crazy-4", "Crazy 4 Poker 4", "UF-4", "round", "up"),
    ("suits-5", "I Luv Suits 5", "UF-5", "open", "down"),
]


def floor_of_spots() -> SpotHealthView:
    names = ("id", "name", "unit", "state", "link")
    return SpotHealthView(lambda: [dict(zip(names, row, strict=True)) for row in TABLES], _heard)


def _heard(unit_id: str) -> Connection | None:
    if unit_id == "UF-5":
        return None
    spots = [_spot(unit_id, f"{seat}A") for seat in range(1, SEATS + 1)]
    return cast(Connection, cast(Any, SimpleNamespace(spots=tuple(spots))))


def _spot(unit_id: str, sensor: str) -> SpotHealth:
    chip, noise, advice = ADVICE.get((unit_id, sensor), (990, 100, ""))
    return SpotHealth(sensor, chip, noise, advice)
