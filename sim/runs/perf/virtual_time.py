"""How much simulated table time a CPU-second buys: in peace, manager and ledger included, and in a
storm, where everything fails and is checked from outside.
"""

from __future__ import annotations

import time

from hal import aio
from sim.floor.floor import Floor, FloorTable
from sim.runs.perf.figures import Figure, at_least
from sim.runs.sense.matrix import Plan, run_matrix
from sim.runs.storm.options import DEEP, DEPTHS, WIDE, StormOptions
from sim.runs.storm.run import run_storm
from sim.time.loop import run_virtual

ROUNDS = 20
ROUND_S = 45
SEATS = (1, 3, 4, 6)
SENSING_TRIALS = 300
STORM_TABLES, STORM_HOURS, STORM_SEED = 4, 0.1, 1
STORM_AIMS = {DEEP: 0.15, WIDE: 0.7}


def measure() -> list[Figure]:
    return [_peace(), *(_storm(depth) for depth in DEPTHS), _sensing()]


def _peace() -> Figure:
    begun_s = time.process_time()
    simulated_s = run_virtual(_play_rounds())
    cpu_s = time.process_time() - begun_s
    return Figure(
        "table-hours per CPU-second, one table in peace",
        simulated_s / 3600 / cpu_s,
        "table-h/CPU-s",
        f"{ROUNDS} rounds of {ROUND_S} s; {simulated_s / cpu_s:.0f}x real time",
    )


def _storm(depth: str) -> Figure:
    result = run_storm(StormOptions.drawn(STORM_TABLES, STORM_HOURS, STORM_SEED, depth))
    table_hours = STORM_TABLES * STORM_HOURS
    verdict = "every promise was kept" if result.passed else "A PROMISE WAS BROKEN"
    return at_least(
        f"table-hours per CPU-second, in a {depth} storm",
        table_hours / result.cpu_seconds,
        STORM_AIMS[depth],
        "table-h/CPU-s",
        f"{STORM_TABLES} tables, seed {STORM_SEED}: {result.rounds} rounds, "
        f"{sum(result.faults.values())} faults; {table_hours * 3600 / result.cpu_seconds:.0f}x "
        f"real time; {verdict}",
    )


def _sensing() -> Figure:
    result = run_matrix(Plan(seed=1, trials=SENSING_TRIALS, register_part=0))
    beside = f"{result.fast_trials} trials of the matrix, the short way, MPR121"
    return Figure("sensing trials", result.trials_per_cpu_s, "1/CPU-s", beside)


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
