"""What is true of the table beside its round: settings, rules, faults, amounts, the link.

It alone knows the rules of this moment: the manager's settings, the key's position, and whether
link, amounts and hardware would let a game start.
"""

from __future__ import annotations

from collections.abc import Callable

from controller.config import UnitConfig
from controller.core.round.decide import table_state
from controller.core.round.rules import Rules
from controller.core.round.state import FAULT, OPEN
from controller.table.faults import FaultBoard
from controller.table.meters import MeterBoard
from controller.table.service_state import ServiceState
from controller.table.settings import rules_from, rules_without_settings
from protocol.wire.settings import TableSettings

# The link's faults that only a person at the Game Manager can end.
SHUT_OUT = ("fork", "locked", "unknown_unit")


class TableState:
    def __init__(self, config: UnitConfig, faults: FaultBoard) -> None:
        self.config = config
        self.faults = faults
        self.meters = MeterBoard()
        self.service = ServiceState()
        self.link_up = False
        self.settings: TableSettings | None = None
        self.is_felt_dead: Callable[[], bool] = lambda: False  # no spot at all can be read
        self._sensors = [sensor.id for sensor in config.board.sensors]
        self.rules = rules_without_settings(config.workflow, self._sensors)
        self._settings_listeners: list[Callable[[TableSettings], None]] = []

    def listen_for_settings(self, listener: Callable[[TableSettings], None]) -> None:
        self._settings_listeners.append(listener)

    def use_settings(self, settings: TableSettings) -> None:
        key = self.rules.key
        self.settings = settings
        self.rules = rules_from(settings, self.config.workflow, self._sensors)
        self.rules.key = key
        for listener in self._settings_listeners:
            listener(settings)

    def rules_now(self) -> Rules:
        """For a command that is taken now."""
        self.rules.in_service = self.service.is_on
        self.rules.link_up = self.link_up
        self.rules.meters_fresh = self.meters.are_fresh()
        self.rules.stopping_faults = self.faults.stopping()
        return self.rules

    def is_shut_out(self) -> bool:
        """True while the Game Manager takes nothing from this unit, until a person acts."""
        return any(each.code in SHUT_OUT and each.part == "link" for each in self.faults.all())

    def word(self, phase: str) -> str:
        """What the table shows while its round is in this phase."""
        ready_to_play = self.link_up and self.settings is not None
        word = table_state(phase, ready_to_play, self.faults.stopping())
        return FAULT if word == OPEN and self.is_felt_dead() else word
