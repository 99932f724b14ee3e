"""START pressed -> lights full, of a whole simulated unit on a disk that needs a millisecond.

Virtual time: waits, bus and disk count, computing does not. What computing costs is measured in
`real_threads`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import TypeVar

from hal.worker import Worker
from sim.floor.floor import Floor, FloorTable
from sim.hardware.backend import SimBackend
from sim.runs.perf.figures import Figure, at_most, distribution, percentile
from sim.time.loop import run_virtual

T = TypeVar("T")

ROUNDS = 60
SEATS = (1, 3, 4, 6)
DISK_S = 0.001
MEDIAN_MAX_MS = 10
MILLISECOND_NS = 1_000_000


class _MillisecondDisk(Worker):
    """Every job, a commit among them, takes a millisecond; one at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._turn = asyncio.Lock()

    async def run(self, job: Callable[[], T]) -> T:
        async with self._turn:
            await asyncio.sleep(DISK_S)
            return job()

    def close(self) -> None:
        pass


class _MillisecondBackend(SimBackend):
    def disk_worker(self, name: str = "disk") -> Worker:
        return _MillisecondDisk(name)


def measure() -> list[Figure]:
    took_ms = run_virtual(_play())
    return [
        at_most(
            "START pressed -> lights full, median",
            percentile(took_ms, 0.5),
            MEDIAN_MAX_MS,
            "ms",
            distribution(took_ms, "ms") + "; a disk of 1 ms, virtual time",
        ),
    ]


async def _play() -> list[float]:
    chance = random.Random(1)
    floor = Floor(seed=1)
    table = await floor.open_table("four-card-touch")
    table.unit.open_backend = _MillisecondBackend
    await table.cut_power()
    await table.restore_power()
    await asyncio.sleep(5)
    try:
        return [await _round(table, chance) for _ in range(ROUNDS)]
    finally:
        await floor.close()


async def _round(table: FloorTable, chance: random.Random) -> float:
    sensors = [f"{seat}A" for seat in SEATS]
    for sensor in sensors:
        table.world.place_chip(sensor)
    await asyncio.sleep(4 + chance.random())
    begun_ns = table.world.now_ns()
    await table.press("START")
    await asyncio.sleep(0.5)
    lights = {table.world.level_now(sensor, "white") for sensor in sensors}
    assert lights == {1.0}, f"after half a second the lights are at {lights}"
    lit_ns = max(table.world.lamps.last_change_ns(sensor, "white") for sensor in sensors)
    for sensor in sensors:
        table.world.remove_chip(sensor)
    await asyncio.sleep(1)
    await table.press("END")
    await asyncio.sleep(1)
    return (lit_ns - begun_ns) / MILLISECOND_NS
