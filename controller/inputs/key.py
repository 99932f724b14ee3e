"""The supervisor's key: its position is a rule, and a turn to JPH also releases a cabinet.

It alone knows that a key between two positions stops play.
"""

from __future__ import annotations

from controller.command_intake import CommandIntake
from controller.core.round import commands
from controller.inputs.cabinet import Cabinet
from controller.table.answer import TAKEN, Answer
from controller.table.state import TableState
from protocol import numbers

KEY_UNCLEAR = "The key's two contacts disagree. Turn it fully to RUN or JPH, or call service."


class SupervisorKey:
    def __init__(self, intake: CommandIntake, table: TableState, cabinet: Cabinet) -> None:
        self._intake = intake
        self._table = table
        self._cabinet = cabinet

    async def turned(self, position: str) -> Answer:
        rules, faults = self._table.rules, self._table.faults
        before, rules.key = rules.key, position
        is_trial = self._table.service.is_on
        if is_trial and position != before:  # it is also read anew after each test, and not turned
            self._table.service.tried("key switch", position)
        unclear = position == numbers.KEY_FAULT
        faults.set("key", "key switch", KEY_UNCLEAR if unclear else "", stops_play=True)
        if is_trial:  # where it stands is known from now on; that it was turned means nothing
            return TAKEN
        if before == numbers.KEY_RUN and position == numbers.KEY_JPH:
            await self._cabinet.release_by("Supervisor key")
        return await self._intake.submit(commands.key(position), f"KEY {position}")
