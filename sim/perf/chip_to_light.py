"""Chip on the felt to light on, in simulated physical time, beside what the chips and bus allow.

The floor is computed from the parts alone: the sensing chip's sampling and debounce, one status
read, one lamp write and one PWM period. What is above the floor is ours.
"""

from __future__ import annotations

import random

from hal import aio
from sim.floor import Floor, FloorTable
from sim.loop import run_virtual
from sim.perf.figures import Figure, at_most, percentile

TRIALS = 300
SEED = 1
# Bit times at 400 kHz (nine bits a byte, start, repeated start and stop), in milliseconds.
STATUS_READ_MS = 0.12
LAMP_WRITE_MS = 0.14
PWM_PERIOD_MS = 0.66
SAMPLE_MS = 4.0
WAIT_MAX_MS = 100


def measure() -> list[Figure]:
    latencies_ms = run_virtual(_place_many())
    # A step lands anywhere in a 4 ms window, and debounce needs one more sample each way.
    floor_median_ms = 2.5 * SAMPLE_MS + STATUS_READ_MS + LAMP_WRITE_MS + PWM_PERIOD_MS
    floor_min_ms = 2 * SAMPLE_MS + STATUS_READ_MS + LAMP_WRITE_MS + PWM_PERIOD_MS
    note = f"physical floor {floor_median_ms:.2f} ms"
    median_ms = percentile(latencies_ms, 0.5)
    return [
        at_most("chip placed -> light on, median", median_ms, 12, "ms", note),
        at_most("chip placed -> light on, 99 %", percentile(latencies_ms, 0.99), 16, "ms"),
        Figure("fastest", min(latencies_ms), "ms", f"physical floor {floor_min_ms:.2f} ms"),
        Figure("ours, above the floor (median)", median_ms - floor_median_ms, "ms"),
    ]


async def _place_many() -> list[float]:
    floor, chance = Floor(SEED), random.Random(SEED)
    table = await floor.open_table("four-card-touch")
    try:
        await aio.sleep_ms(2000)
        return [await _place_once(table, chance) for _ in range(TRIALS)]
    finally:
        await floor.close()


async def _place_once(table: FloorTable, chance: random.Random) -> float:
    """One chip at a random moment; returns the milliseconds until its lamp is lit."""
    world, sensor = table.world, f"{chance.randint(1, table.config.seat_count)}A"
    await aio.sleep_ms(chance.randint(300, 700))
    await aio.sleep(chance.random() / 100)
    placed_ns = world.now_ns()
    world.place_chip(sensor)
    lit_ns = await _lit_at(table, sensor)
    world.remove_chip(sensor)
    return (lit_ns - placed_ns) / 1e6 + PWM_PERIOD_MS


async def _lit_at(table: FloorTable, sensor: str) -> int:
    """When the lamp chip's output changed, by the chip model's own clock."""
    for _ in range(WAIT_MAX_MS):
        await aio.sleep_ms(1)
        lit_ns = table.world.lamps.last_change_ns(sensor, "white")
        if table.world.level_now(sensor, "white") > 0:
            return lit_ns
    raise AssertionError(f"the light of {sensor} did not come on within {WAIT_MAX_MS} ms")
