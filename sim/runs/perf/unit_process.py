"""The unit as a process: time from its start to "open", its memory, and its CPU share at full scan.

The process under the glass imports what `python -m controller run` imports and holds the shipped
controller with its pages, on a board of 16 simulated sensors in real time; as on a unit, the empty
felt was learnt before. The simulated ICs are in it too, so memory is an upper bound. What they and
the felt compute is timed, and left out of the unit's own share of the CPU; what a kernel's driver
would take in their place is not known here. How often the loop turns is counted as well, because no
other process of the machine changes that. Run as a module it is that process.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sim.runs.perf import service_page
from sim.runs.perf.figures import Figure, at_most
from sim.time.loop import run_virtual

SENSORS = 16
SCAN_S = 6
# A table that opened, or a page that was closed, is read more often for a second longer.
SETTLE_S = 2
STARTS = 3
TURNS = 3
MEGABYTE = 1024 * 1024
TABLE = Path(__file__).resolve().parents[3] / "deploy" / "tables" / "four-card-touch.toml"
REFERENCES = "measured.json"


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        references = run_virtual(_learn_references())
        (Path(folder) / REFERENCES).write_text(json.dumps(references), encoding="utf-8")
        starts_s = [_start(folder)[0] for _ in range(STARTS - 1)]
        last_s, found = _start(folder, "--scan")
        starts_s.append(last_s)
    beside = f"{found['scans_per_s']:.0f} transfers/s, the simulated ICs' own cost included"
    own = "without what the simulated ICs and the felt compute"
    each = ", ".join(f"{start_s:.2f}" for start_s in starts_s)
    rss_mb = found["rss_bytes"] / MEGABYTE
    return [
        at_most("controller process start -> open", min(starts_s), 2, "s", f"best of {each}"),
        Figure("  of which CPU time", found["open_cpu_s"], "s"),
        at_most("resident memory, 16 sensors, pages served", rss_mb, 60, "MB"),
        Figure("CPU share of one core at full scan", found["whole_cpu_share"] * 100, "%", beside),
        at_most("  the unit's own, at full scan", found["cpu_share"] * 100, 5, "%", own),
        Figure("CPU share of one core at rest", found["whole_rest_share"] * 100, "%"),
        at_most("  the unit's own, at rest", found["rest_share"] * 100, 0.5, "%", own),
        Figure("  turns of its loop at rest", found["rest_turns_per_s"], "1/s"),
        *service_page.figures(found),
    ]


def _start(folder: str, *options: str) -> tuple[float, dict[str, Any]]:
    """Seconds from the process's start to its "open", and what it found out about itself."""
    begun_s = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "sim.runs.perf.unit_process", folder, *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with contextlib.closing(process.stdout) as output:
        output.readline()
        open_s = time.monotonic() - begun_s
        found: dict[str, Any] = json.loads(output.readline())
    process.wait()
    return open_s, found


async def _learn_references() -> dict[str, int]:
    """What calibration wrote down, on the same felt."""
    from controller.felt.calibration import measure_empty
    from hal.board.open import Board
    from sim.floor.world import World
    from sim.hardware.backend import SimBackend

    world = World(wide_config().board)
    world.start()
    board = Board.from_config(world.board, SimBackend(world))
    try:
        return await measure_empty(board)
    finally:
        board.close()
        await world.close()


def wide_config() -> Any:
    """The shipped touch table with 16 sensors on two sensing and two lamp ICs."""
    from controller.config import load_unit_config
    from hal.board.config import IcConfig, SensorConfig

    config = load_unit_config(TABLE)
    board = config.board
    ics = (
        IcConfig("sense-1", "mpr121", 1, 0x5A, 17),
        IcConfig("sense-2", "mpr121", 1, 0x5B, 18),
        IcConfig("lights-1", "pca9685", 1, 0x40),
        IcConfig("lights-2", "pca9685", 1, 0x41),
    )
    sensors = tuple(
        SensorConfig(
            id=f"{index // 2 + 1}{'AB'[index % 2]}",
            ic=f"sense-{index // 8 + 1}",
            electrode=index % 8,
            lamp_ic=f"lights-{index // 8 + 1}",
            white_channel=2 * (index % 8),
            amber_channel=2 * (index % 8) + 1,
        )
        for index in range(SENSORS)
    )
    wide = dataclasses.replace(board, backend="simulated", ics=ics, sensors=sensors)
    return dataclasses.replace(config, seat_count=SENSORS // 2, board=wide)


async def _run(folder: Path, scan: bool) -> None:
    """The process under the glass: a unit alone, with its pages, never connected to a manager."""
    import controller.__main__  # noqa: F401 - what the shipped command imports
    from controller import stores
    from controller.felt.references import FeltReferences
    from controller.unit import Unit
    from controller.web import app
    from kit.clock import wall_ms
    from kit.web import server
    from protocol.wire.stream import FrameStream
    from sim.floor.unit import SimUnit
    from sim.floor.world import World

    config = wide_config()
    world = World(config.board)
    world.start()
    opened = asyncio.Event()

    async def connect(_: str) -> FrameStream:
        raise ConnectionRefusedError("this measurement needs no manager")

    async def serve_pages(controller: Unit) -> None:
        opened.set()
        await server.serve(app.build(controller.pages), server.bind("127.0.0.1", 0))

    unit = SimUnit(
        config,
        world,
        stores=stores.in_folder(folder, config.board.serial, wall_ms),
        connect=connect,
        wall_ms=wall_ms,
        seed=1,
        companion=serve_pages,
    )
    measured = json.loads((folder / REFERENCES).read_text(encoding="utf-8"))
    unit.references = FeltReferences(measured)
    await unit.power_on()
    await opened.wait()
    assert unit.controller is not None
    spots, version = unit.controller.felt.spots.values(), 0
    while any(spot.presence != "absent" for spot in spots):
        version = await unit.controller.pages.view_changed(version)
    print("open", flush=True)
    found = {"open_cpu_s": time.process_time()}
    if scan:
        found |= await _measure_shares(world, unit.controller)
    print(json.dumps(found), flush=True)
    await unit.close()
    await world.close()


class _HardwareTime:
    """The CPU time that the simulated hardware takes in this process, which a unit has not."""

    def __init__(self) -> None:
        self.cpu_s = 0.0

    def leave_out(self, world: Any) -> None:
        for bus in world.buses.values():
            bus.transfer = self.timed(bus.transfer)
        clockwork = world._clockwork  # noqa: SLF001 - it has no other place to stand beside it
        clockwork._tick = self.timed(clockwork._tick)  # noqa: SLF001

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            begun_s = time.thread_time()
            try:
                return call(*arguments)
            finally:
                self.cpu_s += time.thread_time() - begun_s

        return run


_hardware_time = _HardwareTime()


async def _measure_shares(world: Any, controller: Any) -> dict[str, float]:
    rss_bytes = _resident_bytes()
    _hardware_time.leave_out(world)
    await asyncio.sleep(SETTLE_S)
    rest_turns_per_s = await _turns_per_s(SCAN_S / TURNS)
    rest_shares, at_rest = await _in_turns(controller)
    # Every chip is touched all the time, so that both sensing ICs are read at their full rate.
    stirring = asyncio.create_task(_stir(world), name="stirring")
    transfers, begun_s = _transfer_count(world), time.monotonic()
    shares, at_full_scan = await _in_turns(controller)
    scans_per_s = (_transfer_count(world) - transfers) / (time.monotonic() - begun_s)
    stirring.cancel()
    return {
        **at_full_scan,
        "viewed_share": at_full_scan["share"],
        "viewed_rest_share": at_rest["share"],
        "rss_bytes": rss_bytes,
        "cpu_share": shares.own,
        "whole_cpu_share": shares.whole,
        "rest_share": rest_shares.own,
        "whole_rest_share": rest_shares.whole,
        "rest_turns_per_s": rest_turns_per_s,
        "scans_per_s": scans_per_s,
    }


class _Shares(NamedTuple):
    """Of one core."""

    own: float  # the unit's program alone
    whole: float  # with the simulated hardware


async def _in_turns(controller: Any) -> tuple[_Shares, dict[str, float]]:
    """The share of a core alone and with a page that is looked at, in turns; of each the median."""
    alone, looked_at = [], []
    for _ in range(TURNS):
        await asyncio.sleep(SETTLE_S)
        alone.append(await _shares_of(SCAN_S / TURNS))
        looked_at.append(await service_page.viewed(controller, _own_share))
    looked_at.sort(key=lambda found: found["share"])
    return sorted(alone)[TURNS // 2], looked_at[TURNS // 2]


def _transfer_count(world: Any) -> int:
    return sum(bus.transfer_count for bus in world.buses.values())


async def _turns_per_s(seconds: float) -> float:
    """How often the loop looks for something to do."""
    selector: Any = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]  # noqa: SLF001
    select, turns = selector.select, itertools.count()

    def counted(timeout: float | None = None) -> Any:
        next(turns)
        return select(timeout)

    selector.select = counted
    await asyncio.sleep(seconds)
    selector.select = select
    return next(turns) / seconds


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def _own_share(seconds: float) -> float:
    """As without a viewer: the simulated hardware is no part of what a page costs."""
    return (await _shares_of(seconds)).own


async def _shares_of(seconds: float) -> _Shares:
    cpu_s, hardware_s = time.process_time(), _hardware_time.cpu_s
    wall_s = time.monotonic()
    await asyncio.sleep(seconds)
    cpu_s, hardware_s = time.process_time() - cpu_s, _hardware_time.cpu_s - hardware_s
    passed_s = time.monotonic() - wall_s
    return _Shares((cpu_s - hardware_s) / passed_s, cpu_s / passed_s)


async def _stir(world: Any) -> None:
    """A chip comes or goes on each sensing IC in turn, ten times a second."""
    sensors = [sensor.id for sensor in world.board.sensors]
    place, remove = _hardware_time.timed(world.place_chip), _hardware_time.timed(world.remove_chip)
    turn = 0
    while True:
        sensor = sensors[(turn * 7) % len(sensors)]
        (remove if world.has_chip(sensor) else place)(sensor)
        turn += 1
        await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(_run(Path(sys.argv[1]), "--scan" in sys.argv))
