"""What may be broken at a table that a technician practises with, by name and part."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hal.board.config import BoardConfig
from sim.floor.floor import Impossible
from sim.floor.world import World

IC, SENSOR, BUS = "IC", "SENSOR", "BUS"


class Fault(NamedTuple):
    part: str  # what follows its name
    strike: Callable[[World, str], None]


FAULTS = {
    "silent-ic": Fault(IC, lambda world, ic: world.faults.nack(ic)),
    "shorted-interrupt": Fault(IC, lambda world, ic: world.faults.ground_interrupt(ic)),
    "cut-interrupt": Fault(IC, lambda world, ic: world.faults.cut_interrupt(ic)),
    "loose-pad": Fault(SENSOR, lambda world, sensor: world.faults.break_electrode(sensor)),
    "shorted-pad": Fault(SENSOR, lambda world, sensor: world.faults.break_electrode(sensor, True)),
    "wet-felt": Fault(SENSOR, lambda world, sensor: world.spill([sensor])),
    "held-bus": Fault(BUS, lambda world, bus: world.faults.stick_bus(int(bus))),
    "grounded-bus": Fault(BUS, lambda world, bus: world.faults.ground_bus(int(bus))),
}


def known() -> str:
    return ", ".join(f"{name}:{fault.part}" for name, fault in FAULTS.items())


def strike(world: World, text: str) -> None:
    """Breaks what a text such as `loose-pad:3A,silent-ic:sense-1` names; all or nothing."""
    for fault, part in wanted(world.board, text):
        fault.strike(world, part)


def wanted(board: BoardConfig, text: str) -> list[tuple[Fault, str]]:
    return [_parsed(board, each) for each in text.split(",") if each]


def _parsed(board: BoardConfig, text: str) -> tuple[Fault, str]:
    name, _, part = text.partition(":")
    fault = FAULTS.get(name)
    if fault is None:
        raise Impossible(f"there is no fault {name!r:.40}; there are {known()}")
    parts = {
        IC: [ic.name for ic in board.ics],
        SENSOR: [sensor.id for sensor in board.sensors],
        BUS: [str(bus.number) for bus in board.buses],
    }[fault.part]
    if part not in parts:
        raise Impossible(f"{name} needs a part: {name}:{fault.part} of {', '.join(parts)}")
    return fault, part
