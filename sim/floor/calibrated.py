"""A felt is calibrated through its ICs once in a process, and remembered for its twins.

What a tech measures depends on the board and on the pads alone, and hundreds of scenarios and tests
play on the same ones. A twin gets the same figures after the same virtual time. A felt that moves,
or time that is real, is always measured.
"""

from __future__ import annotations

import asyncio

from controller.felt.references import FeltReferences
from sim.floor.unit import SimUnit
from sim.floor.world import World
from sim.hardware.i2c import sleep_until_ns
from sim.hardware.ics.base import Source
from sim.time.loop import VirtualLoop

_measured: dict[str, tuple[FeltReferences, int]] = {}  # and how long it took


async def calibrate_once(unit: SimUnit, world: World) -> None:
    if not isinstance(asyncio.get_running_loop(), VirtualLoop):
        await unit.calibrate()  # the felt may be far away, where only its verbs can be asked
        return
    levels = [world.felt.level(sensor.id) for sensor in world.board.sensors]
    if any(isinstance(level, Source) for level in levels):
        await unit.calibrate()
        return
    felt = f"{world.board!r} {world.felt.describe()} {levels}"
    began_ns = world.now_ns()
    if felt in _measured:
        unit.references, took_ns = _measured[felt]
        await sleep_until_ns(began_ns + took_ns, world.now_ns)
    else:
        await unit.calibrate()
        _measured[felt] = unit.references, world.now_ns() - began_ns
