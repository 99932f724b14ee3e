"""Who gives way when all of a number of places are taken and somebody else comes.

The busiest address gives one back: first one that has said nothing yet, and the oldest of those. So
a crowd from a few addresses takes places from itself, never from the others. Those who are spared
only give way to each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Place(NamedTuple, Generic[T]):
    holder: T
    address: str
    is_silent: bool = False
    is_spared: bool = False


def gives_way(places: Iterable[Place[T]]) -> T | None:
    """The holder who goes; `places` are in the order in which they were taken."""
    taken = list(places)
    counts = Counter(place.address for place in taken)

    def readiness(place: Place[T]) -> tuple[bool, int, bool]:
        return (not place.is_spared, counts[place.address], place.is_silent)

    # Of equals, `max` takes the first: the oldest.
    return max(taken, key=readiness).holder if taken else None
