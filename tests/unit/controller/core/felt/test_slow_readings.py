"""A chip proves that it rests also where a bus gives few readings, only later."""

from __future__ import annotations

import pytest

from controller.core.felt.level_history import Trace

REST_MS = 450


def still_after_ms(every_ms: int) -> int:
    """When a level that rests from the start is found still for REST_MS; 0 within two seconds."""
    trace = Trace(0.01)
    for now_ms in range(0, 2000, every_ms):
        trace.add(1.0, now_ms)
        if trace.mean_if_still(REST_MS, now_ms) is not None:
            return now_ms
    return 0


@pytest.mark.parametrize(("every_ms", "after_ms"), [(10, 460), (30, 480), (40, 600), (60, 900)])
def test_slow_readings_are_waited_for(every_ms: int, after_ms: int) -> None:
    """Catches: giving up on a stretch that holds too few, and judging by fewer than fifteen."""
    assert after_ms - every_ms <= still_after_ms(every_ms) <= after_ms + 2 * every_ms
