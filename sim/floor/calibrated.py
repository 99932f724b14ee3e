"""A felt is calibrated through its ICs once in a process, and remembered for its twins.

What a tech measures depends on the board and on the pads alone, and hundreds of scenarios and tests
play on the same ones. A twin gets the same figures after the same virtual time. A felt that moves
is always measured. Where time is real it is measured too, unless a twin was in virtual time before:
then whoever waits for the table does not wait for that.
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
    is_virtual = isinstance(asyncio.get_running_loop(), VirtualLoop)
    # In real time the felt may be far away, where only its verbs can be asked.
    felt = _felt(world) if is_virtual or _measured else ""
    if felt not in _measured:
        began_ns = world.now_ns()
        await unit.calibrate()
        if felt and is_virtual:
            _measured[felt] = unit.references, world.now_ns() - began_ns
        return
    unit.references, took_ns = _measured[felt]
    if is_virtual:
        await sleep_until_ns(world.now_ns() + took_ns, world.now_ns)


def _felt(world: World) -> str:
    """What tells one felt from another, "" for one that moves."""
    levels = [world.felt.level(sensor.id) for sensor in world.board.sensors]
    if any(isinstance(level, Source) for level in levels):
        return ""
    return f"{world.board!r} {world.felt.describe()} {levels}"
