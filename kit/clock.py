"""The wall clock, for stamping records only, and the machine's own running time.

The one place that asks the operating system for the date. It may jump when the network corrects it:
intervals are measured with `hal.aio.ticks_ms`, never with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

WallClock = Callable[[], int]
"""What a consumer is given: milliseconds since 1970 in UTC."""


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def monotonic_s() -> float:
    """Real time for measuring how long real things took; it never jumps and means no date."""
    return time.monotonic()
