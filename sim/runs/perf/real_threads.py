"""The unit in real time with real threads: our part of a light, and who holds the loop meanwhile.

From the interrupt's edge, as gpiozero calls us, to the last bit of the lamp write; then the longest
time that a callback held the loop, first in peace and then while the bus fails in every way it can.
The simulated hardware shares the processor (and Python's lock) with the unit, so these are upper
bounds; on a busy machine the CPU time says more than the clock. Run as a module it is the process
that is measured.
"""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sim.runs.perf.figures import Figure, distribution, percentile

TRIALS = 80
TRIAL_PAUSE_S = 0.12
LIT_MAX_S = 2.0
LOOK_S = 0.02
LIGHT = "interrupt edge -> LED written"
WATCH_S = 6.0
BEAT_S = 0.002
STALL_MIN_S = 0.002
BUS = 1


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "sim.runs.perf.real_threads", folder]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    wall_ms, cpu_ms = found["wall_ms"], found["cpu_ms"]
    return [
        Figure(f"{LIGHT}, median", percentile(wall_ms, 0.5), "ms", "0.26 ms of it on the bus"),
        Figure(f"{LIGHT}, 99 %", percentile(wall_ms, 0.99), "ms", distribution(wall_ms, "ms")),
        Figure(
            "  CPU time meanwhile, median",
            percentile(cpu_ms, 0.5),
            "ms",
            f"the simulated hardware's own included; {distribution(cpu_ms, 'ms')}",
        ),
        _hold("longest hold of the loop in peace", found["peace"]),
        _hold("longest hold of the loop under bus faults", found["trouble"]),
    ]


def _hold(name: str, found: dict[str, Any]) -> Figure:
    culprit = found["culprit"] or f"no callback for more than {STALL_MIN_S * 1000:g} ms"
    machine = f"the machine kept the whole process waiting {found['machine_ms']} ms"
    met = ", ".join(f"{count} x {fault}" for fault, count in found["struck"].items())
    beside = "; ".join(filter(None, [culprit, machine, met and f"met {met}"]))
    return Figure(name, found["duration_ms"], "ms", beside)


# -- the process that is measured ----------------------------------------------------------------


async def _run(folder: Path) -> dict[str, Any]:
    from controller import stores
    from hal.backend import Backend
    from kit.clock import wall_ms
    from protocol.wire.stream import FrameStream
    from sim.floor.unit import SimUnit
    from sim.runs.perf.hardware_thread import HardwareThread, ThreadedBackend
    from sim.runs.perf.unit_process import wide_config

    config = wide_config()
    hardware = HardwareThread(config.board)

    class ThreadedUnit(SimUnit):
        def _open_backend(self) -> Backend:
            return ThreadedBackend(hardware)

    async def connect(_: str) -> FrameStream:
        raise ConnectionRefusedError("this measurement needs no manager")

    unit = ThreadedUnit(
        config,
        hardware.world,
        stores=stores.in_folder(folder, config.board.serial, wall_ms),
        connect=connect,
        wall_ms=wall_ms,
        seed=1,
    )
    await unit.calibrate(empty_only=True)
    await unit.power_on()
    try:
        await _until_open(unit)
        found = await _lights(hardware, unit)
        found["peace"] = await _watched(hardware, asyncio.sleep(WATCH_S))
        found["trouble"] = await _watched(hardware, _make_trouble(hardware))
        return found
    finally:
        await unit.close()
        hardware.close()


async def _until_open(unit: Any) -> None:
    version = 0
    while any(spot.presence != "absent" for spot in unit.controller.felt.spots.values()):
        version = await unit.controller.pages.view_changed(version)


async def _lights(hardware: Any, unit: Any) -> dict[str, Any]:
    """From each edge to the end of its lamp's transfer, one chip after another."""
    from hal.aio import ThreadSafeFlag

    edges: list[tuple[int, float]] = []

    class Stamp(ThreadSafeFlag):
        def set(self) -> None:
            edges.append((hardware.world.now_ns(), time.process_time()))

    for ic in unit.controller.hardware.board.ics.values():
        ic.interrupt.also_set(Stamp())
    lamps = _LampStamps(hardware.world)
    wall_ms, cpu_ms = [], []
    sensors = [sensor.id for sensor in hardware.world.board.sensors]
    for trial in range(TRIALS):
        sensor = sensors[trial * 5 % len(sensors)]
        edges.clear()
        lamps.forget()
        await hardware.ask(lambda sensor=sensor: hardware.world.place_chip(sensor))
        lit_ns, lit_cpu_s = await lamps.lit(sensor)
        edge_ns, edge_cpu_s = edges[0]
        wall_ms.append((lit_ns - edge_ns) / 1e6)
        cpu_ms.append((lit_cpu_s - edge_cpu_s) * 1000)
        await hardware.ask(lambda sensor=sensor: hardware.world.remove_chip(sensor))
        await asyncio.sleep(TRIAL_PAUSE_S + trial % 7 / 1000)
    return {"wall_ms": wall_ms, "cpu_ms": cpu_ms}


class _LampStamps:
    """When a lamp first shone since `forget`: the end of its transfer, and the CPU time then."""

    def __init__(self, world: Any) -> None:
        self._first: tuple[int, float] | None = None
        record = world.lamps.record

        def note(sensor: str, colour: str, at_ns: int, level: int) -> None:
            record(sensor, colour, at_ns, level)
            if level > 0 and self._first is None:
                self._first = (at_ns, time.process_time())

        world.lamps.record = note

    def forget(self) -> None:
        self._first = None

    async def lit(self, sensor: str) -> tuple[int, float]:
        for _ in range(int(LIT_MAX_S / LOOK_S)):
            if self._first is not None:
                return self._first
            await asyncio.sleep(LOOK_S)
        raise AssertionError(f"the light of {sensor} did not come on within {LIT_MAX_S} s")


async def _watched(hardware: Any, act: Any) -> dict[str, Any]:
    """Who held this loop longest while `act` lasts, and what the bus met meanwhile."""
    from hal.loop_watch import NO_CALLBACK, UNSEEN, LoopWatch, Stall

    stalls: list[Stall] = [Stall(0, "")]
    watch = LoopWatch(stalls.append, beat_s=BEAT_S, stall_min_s=STALL_MIN_S)
    watching = asyncio.create_task(watch.run(), name="loop-watch")
    try:
        await act
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    # Where even the watching thread did not run, the whole process had no processor.
    machines = [each.duration_ms for each in stalls if each.culprit in (NO_CALLBACK, UNSEEN)]
    ours = [each for each in stalls if each.culprit not in (NO_CALLBACK, UNSEEN)]
    longest = max(ours, key=lambda stall: stall.duration_ms)
    struck = await hardware.ask(lambda: dict(hardware.world.faults.struck))
    return {
        "duration_ms": longest.duration_ms,
        "culprit": longest.culprit,
        "machine_ms": max(machines, default=0),
        "struck": {name: count for name, count in struck.items() if count},
    }


async def _make_trouble(hardware: Any) -> None:
    """Everything that can go wrong on the bus, one after another, while the table is open."""
    faults = hardware.world.faults
    troubles = (
        lambda: faults.nack("sense-1", 20),
        lambda: faults.lose_arbitration(BUS, 20),
        lambda: faults.short_read("lights-1", 3),
        lambda: faults.block_bus(BUS, 1000),
        lambda: faults.stick_bus(BUS),
        lambda: faults.nack("lights-2", 20),
    )
    sensors = [sensor.id for sensor in hardware.world.board.sensors]
    for number, arm in enumerate(troubles):
        await hardware.ask(arm)
        await hardware.ask(lambda number=number: hardware.world.place_chip(sensors[number]))
        await asyncio.sleep(WATCH_S / len(troubles))
        await hardware.ask(lambda: faults.clear_bus(BUS))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # the faults are ours
    print(json.dumps(asyncio.run(_run(Path(sys.argv[1])))))
