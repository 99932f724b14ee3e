"""The manager's own clock: the one place in this package that asks the machine for the time.

Every other module is handed a `now_ms` callable, so that tests and the simulator can supply theirs.
The manager's commit time is the only one with legal meaning; a unit's clocks stand beside it.
"""

from __future__ import annotations

import time


def wall_clock_ms() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000
