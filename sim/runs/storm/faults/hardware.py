"""What happens to a table's hardware: buses, ICs, electrodes, lid, liquid, and its wall clock."""

from __future__ import annotations

import asyncio
import random

from sim.runs.storm import marks
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.table import StormTable

HOUR_MS = 3_600_000
RECOVERY_MS = 9_000  # a sensing IC is tried again after at most two seconds, three times over


async def bus_fault(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    faults, board = table.world.faults, table.plan.config.board
    ic, bus = chance.choice(board.ics), board.buses[0].number
    lasts_s = chance.choice((0.02, 0.5, 5.0)) * chance.random()
    kinds = ("nack", "stuck", "grounded", "short", "arbitration", "irq", "reset", "current")
    kind = chance.choice(kinds)
    if kind == "stuck":
        lasts_s += 2.0  # as long as a unit takes to free it, if nothing comes between
    table.record.note("bus", table.name, kind, ic.name)
    table.watch.hurt(round(lasts_s * 1000) + RECOVERY_MS)
    try:
        if kind == "nack":
            faults.nack(ic.name)
        elif kind == "stuck":
            faults.stick_bus_at_random(bus, chance)
        elif kind == "grounded":
            faults.ground_bus(bus)
        elif kind == "short":
            faults.short_read(ic.name, chance.randint(1, 6))
        elif kind == "arbitration":
            faults.lose_arbitration(bus, chance.randint(1, 6))
        elif kind == "irq" and ic.interrupt_gpio is not None:
            faults.lose_interrupt(ic.name, chance.randint(1, 3))
        elif kind == "reset" and table.world.powered:
            faults.reset_ic(ic.name)
        elif kind == "current" and table.world.powered and ic.kind == "mpr121":
            faults.over_current(ic.name)
        await asyncio.sleep(lasts_s)
        if kind == "stuck" and not faults.is_bus_held(bus):
            table.record.marks.fire(marks.HELD_BUS_FREED)
    finally:
        faults.clear_bus(bus)


async def electrode_breaks(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    sensor, lasts_s = chance.choice(table.sensors), chance.uniform(0.05, 10)
    table.watch.hurt(round(lasts_s * 1000) + RECOVERY_MS)
    table.world.faults.break_electrode(sensor, shorted=chance.random() < 0.5)
    try:
        await asyncio.sleep(lasts_s)
    finally:
        table.watch.disturb()
        table.world.faults.mend_electrode(sensor)


async def cabinet_opened(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    table.world.controls.tamper(open=True)
    try:
        await asyncio.sleep(chance.uniform(0.01, 10))
    finally:
        table.world.controls.tamper(open=False)


async def clock_jumps(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    how_far = chance.choice((2_000, 60_000, HOUR_MS, 400 * 24 * HOUR_MS))
    table.clock.jump(chance.choice((-1, 1)) * chance.randint(1, how_far))


async def liquid_spilled(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """A drink over one to four neighbours, and someone who wipes it up."""
    count = chance.randint(1, min(4, len(table.sensors)))
    first = chance.randint(0, len(table.sensors) - count)
    sensors, lasts_s = table.sensors[first : first + count], chance.uniform(1, 15)
    table.watch.hurt(round(lasts_s * 1000) + RECOVERY_MS)
    table.watch.disturb()
    table.watch.felt_in_doubt = True
    table.world.spill(sensors)
    try:
        await asyncio.sleep(lasts_s)
    finally:
        table.watch.disturb()
        table.world.wipe(sensors)
