"""Where the seats stand on the dealer's panel: the half-moon as the dealer sees it.

Seat 1 is at the left, the last at the right, the middle seats farthest away. Positions are whole
steps that the style sheet knows, because the page may not carry styles of its own.
"""

from __future__ import annotations

import math

STEPS = 10


def arc_steps(seat_count: int) -> list[int]:
    """How far each seat comes down towards the dealer: 0 is the top of the arc, STEPS the ends."""
    if seat_count < 2:
        return [0] * seat_count
    middle = (seat_count - 1) / 2
    return [_drop((index - middle) / middle) for index in range(seat_count)]


def _drop(place: float) -> int:
    """`place` runs from -1 (left end) to 1 (right end)."""
    spread = 0.92  # A little less than a full half circle: the end seats keep some width.
    lowest = 1 - math.sqrt(1 - spread**2)
    return round(STEPS * (1 - math.sqrt(1 - (place * spread) ** 2)) / lowest)
