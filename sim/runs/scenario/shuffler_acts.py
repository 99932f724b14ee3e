"""What a scenario's shuffler does: deals, shows cards, and misbehaves on its line."""

from __future__ import annotations

from collections.abc import Callable

from protocol.sensor_id import seat_of
from sim.floor.floor import FloorTable, Impossible
from sim.hardware.shuffler import ShufflerMachine
from sim.runs.scenario.language import sensor_id

HANDS_TOLD = 5  # in a frame that does not arrive whole
MISCHIEF: dict[str, Callable[[ShufflerMachine], None]] = {
    "noise": lambda machine: machine.noise(),
    "break-off": lambda machine: machine.breaks_off(HANDS_TOLD),
    "garble": lambda machine: machine.garbles(HANDS_TOLD),
    "unplug": lambda machine: machine.unplug(),
    "plug": lambda machine: machine.plug(),
}


def deals(table: FloorTable, hand_count: str, mode: str = "") -> None:
    _machine(table).deals(int(hand_count), mode)


def shows(table: FloorTable, spot: str, *cards: str) -> None:
    seat = 0 if spot == "DEALER" else seat_of(sensor_id(spot))
    _machine(table).shows(seat, cards)


def misbehaves(table: FloorTable, act: str) -> None:
    MISCHIEF[act](_machine(table))


def _machine(table: FloorTable) -> ShufflerMachine:
    machine = table.world.controls.shuffler
    if machine is None:
        raise Impossible("this table has no shuffler")
    return machine
