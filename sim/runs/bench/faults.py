"""The faults that a person can switch on and off on the bench, by name."""

from __future__ import annotations

from sim.floor.world import World

LABELS = {
    "sensors-silent": "Sensing IC silent",
    "lamps-silent": "Lamp IC silent",
    "bus-stuck": "An IC holds the bus",
    "bus-grounded": "Bus wire on ground",
}


class BenchFaults:
    def __init__(self, world: World) -> None:
        self._world = world
        self._bus_number = world.board.buses[0].number
        self._on: set[str] = set()

    def toggle(self, name: str) -> None:
        if name not in LABELS:
            raise ValueError(f"the faults are {', '.join(LABELS)}")
        self._forget_what_was_freed()
        self._on ^= {name}
        self._arm()

    def view(self) -> list[dict[str, object]]:
        self._forget_what_was_freed()
        return [
            {"id": name, "label": label, "on": name in self._on} for name, label in LABELS.items()
        ]

    def _forget_what_was_freed(self) -> None:
        """The unit frees a held bus by itself, and the switch follows."""
        if not self._world.faults.is_bus_held(self._bus_number):
            self._on.discard("bus-stuck")

    def _arm(self) -> None:
        """Everything off, then what is switched on: several faults may strike one bus."""
        faults, board = self._world.faults, self._world.board
        for bus in board.buses:
            faults.clear_bus(bus.number)
        if "bus-stuck" in self._on:
            faults.stick_bus(self._bus_number)
        if "bus-grounded" in self._on:
            faults.ground_bus(self._bus_number)
        lamp_ics = {sensor.lamp_ic for sensor in board.sensors}
        sensing_ics = {sensor.ic for sensor in board.sensors}
        silent = (lamp_ics if "lamps-silent" in self._on else set()) | (
            sensing_ics if "sensors-silent" in self._on else set()
        )
        for ic in sorted(silent):
            faults.nack(ic)
