"""Who gives way when every place is taken: a crowd takes places from itself only."""

from __future__ import annotations

import pytest

from kit.places import Place, gives_way

CASES = {
    "nobody is there": ([], None),
    "the oldest of equals": ([Place(1, "a"), Place(2, "b")], 1),
    "the busiest address": ([Place(1, "a"), Place(2, "b"), Place(3, "b")], 2),
    "first one that is silent": ([Place(1, "a"), Place(2, "a", is_silent=True)], 2),
    "a silent one of a quiet address stays": (
        [Place(1, "a", is_silent=True), Place(2, "b"), Place(3, "b")],
        2,
    ),
    "the spared stay, however many": (
        [Place(1, "a", is_spared=True), Place(2, "a", is_spared=True), Place(3, "b")],
        3,
    ),
    "the spared give way to each other": ([Place(1, "a", is_spared=True)], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_who_gives_way(name: str) -> None:
    places, leaving = CASES[name]
    assert gives_way(places) == leaving
