"""What the people of a storm read off a table's panel: nothing, while the table is dark."""

from __future__ import annotations

from controller.unit import Unit
from sim.runs.storm.floor.unit import StormUnit


class Panel:
    def __init__(self, unit: StormUnit) -> None:
        self._unit = unit

    @property
    def controller(self) -> Unit | None:
        return self._unit.controller if self._unit.alive else None

    def state(self) -> str:
        controller = self.controller
        return controller.state() if controller else "dark"

    def phase(self) -> str:
        """What a dealer goes by: the table's state, or the round that a fault does not end."""
        controller = self.controller
        if controller is not None and controller.keeper.state.round_open:
            return controller.keeper.state.phase()
        return self.state()

    def stage(self) -> str:
        controller = self.controller
        return controller.keeper.state.stage() if controller else ""

    def message(self) -> str:
        """What the panel last said."""
        controller = self.controller
        return controller.news.message[2] if controller else ""
