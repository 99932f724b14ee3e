"""What looking at one sensor costs: our MPR121 driver beside Adafruit's, in turns on one bus.

Both talk to the same simulated bus at 400 kHz, each to an IC of its own. Bus time is exact; CPU
time is this machine's and has the models' cost in it, the same for both. Theirs is run as its
documentation does it (each electrode's `value`) and as sparingly as it can be (`touched`).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from hal.bus.i2c import I2cBus
from hal.ics.mpr121 import Mpr121 as OurDriver
from hal.worker import InlineWorker
from sim.hardware.circuitpython import BoardI2C, Clock, published_drivers
from sim.hardware.ics.mpr121 import Mpr121
from sim.hardware.smbus import SimSMBus
from sim.runs.perf.figures import Figure
from sim.time.loop import run_virtual

OURS, THEIRS = 0x5A, 0x5B
ELECTRODES = 12
EMPTY_COUNTS = 700
SETTLED_S = 0.05
TURNS, SCANS_PER_TURN = 10, 40

Scan = Callable[[], Awaitable[object]]


@dataclass
class Cost:
    """The sum over all scans of one way to look."""

    bus_ns: int = 0
    cpu_s: float = 0.0
    transfers: int = 0

    def per_sensor_us(self) -> tuple[float, float]:
        sensors = TURNS * SCANS_PER_TURN * ELECTRODES
        return self.bus_ns / sensors / 1000, self.cpu_s / sensors * 1e6

    def transfers_per_scan(self) -> float:
        return self.transfers / (TURNS * SCANS_PER_TURN)


def measure() -> list[Figure]:
    costs = run_virtual(_compare())
    return [
        *_beside("touch bits", costs, "ours: touch bits", "touched", "each value"),
        *_beside("raw data and reference", costs, "ours: snapshot", "raw and baseline"),
    ]


def _beside(what: str, costs: dict[str, Cost], ours: str, *theirs: str) -> list[Figure]:
    ours_bus_us, ours_cpu_us = costs[ours].per_sensor_us()
    bus, cpu = [], []
    for name in theirs:
        bus_us, cpu_us = costs[name].per_sensor_us()
        transfers = costs[name].transfers_per_scan()
        bus.append(f"Adafruit, {name}: {bus_us:.1f} us ({transfers:.0f} transfers)")
        cpu.append(f"Adafruit, {name}: {cpu_us:.1f} us, {cpu_us / ours_cpu_us:.1f} times")
    count = costs[ours].transfers_per_scan()
    return [
        Figure(f"{what}, bus time per sensor ({count:.0f} a scan)", ours_bus_us, "us", _join(bus)),
        Figure(f"{what}, CPU time per sensor", ours_cpu_us, "us", _join(cpu)),
    ]


def _join(parts: list[str]) -> str:
    return "; ".join(parts)


async def _compare() -> dict[str, Cost]:
    clock = Clock()
    ics = [Mpr121(OURS), Mpr121(THEIRS)]
    board = BoardI2C(clock, *ics)
    for ic in ics:
        for electrode in range(ELECTRODES):
            ic.set_input(electrode, EMPTY_COUNTS, 0)
    with published_drivers() as drivers:
        module: Any = drivers["adafruit_mpr121"]
        module.time = clock
        theirs = module.MPR121(board, THEIRS)
        ours = OurDriver(I2cBus("1", SimSMBus(board.bus), InlineWorker("i2c-1")), OURS, ELECTRODES)
        await ours.start([EMPTY_COUNTS] * ELECTRODES)
        clock.sleep(SETTLED_S)
        return await _in_turns(board, _scans(ours, theirs))


def _scans(ours: OurDriver, theirs: Any) -> dict[str, Scan]:
    electrodes = range(ELECTRODES)

    async def touched() -> object:
        return theirs.touched()

    async def each_value() -> object:
        return [theirs[electrode].value for electrode in electrodes]

    async def raw_and_baseline() -> object:
        return [
            (theirs.filtered_data(electrode), theirs.baseline_data(electrode))
            for electrode in electrodes
        ]

    return {
        "ours: touch bits": ours.read_touched,
        "touched": touched,
        "each value": each_value,
        "ours: snapshot": ours.snapshot,
        "raw and baseline": raw_and_baseline,
    }


async def _in_turns(board: BoardI2C, scans: dict[str, Scan]) -> dict[str, Cost]:
    costs = {name: Cost() for name in scans}
    for _ in range(TURNS):
        for name, scan in scans.items():
            await _take_turn(board, scan, costs[name])
    return costs


async def _take_turn(board: BoardI2C, scan: Scan, cost: Cost) -> None:
    board.clock.now_ns = board.bus.clock_ns
    bus_ns, transfers = board.bus.clock_ns, board.bus.transfer_count
    begun_s = time.process_time()
    for _ in range(SCANS_PER_TURN):
        await scan()
    cost.cpu_s += time.process_time() - begun_s
    cost.bus_ns += board.bus.clock_ns - bus_ns
    cost.transfers += board.bus.transfer_count - transfers
