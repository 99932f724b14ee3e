"""How much simulated table time a CPU-second buys, manager and ledger included."""

from __future__ import annotations

import time

from hal import aio
from sim.floor import Floor, FloorTable
from sim.loop import run_virtual
from sim.perf.figures import Figure

ROUNDS = 20
ROUND_S = 45
SEATS = (1, 3, 4, 6)


def measure() -> list[Figure]:
    begun_s = time.process_time()
    simulated_s = run_virtual(_play_rounds())
    cpu_s = time.process_time() - begun_s
    return [
        Figure(
            "simulated table-hours per CPU-second",
            simulated_s / 3600 / cpu_s,
            "table-h/CPU-s",
            f"{ROUNDS} rounds of {ROUND_S} s; {simulated_s / cpu_s:.0f}x real time",
        )
    ]


async def _play_rounds() -> float:
    floor = Floor(seed=1)
    table = await floor.open_table("four-card-touch")
    begun_ms = aio.ticks_ms()
    try:
        for _ in range(ROUNDS):
            await _play_round(table)
        return aio.ticks_diff(aio.ticks_ms(), begun_ms) / 1000
    finally:
        await floor.close()


async def _play_round(table: FloorTable) -> None:
    for seat in SEATS:
        table.world.place_chip(f"{seat}A")
    await aio.sleep_ms(5_000)
    await table.press("START")
    for seat in SEATS:
        table.world.remove_chip(f"{seat}A")
    await aio.sleep_ms((ROUND_S - 6) * 1000)
    await table.press("END")
    await aio.sleep_ms(1_000)
