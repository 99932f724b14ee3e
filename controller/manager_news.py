"""What the Game Manager says, turned into what it means at this table.

It passes news on and decides nothing about a round. Every call returns only when what must be
durable is durable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from controller.config import UnitConfig
from controller.core import commands
from controller.fault_board import FaultBoard
from controller.meters import MeterBoard
from controller.recovery import RecoveryFault
from controller.round_keeper import Answer, RoundKeeper
from controller.table_settings import misfit
from controller.view_news import ViewNews
from hal.board import Board
from protocol import messages
from protocol.errors import ErrorCode
from protocol.settings import TableSettings

# What a welcome shows to be over.
PASSING = ("fork", "locked", "unknown_unit", "version", "counters", "restore")


class Table(Protocol):
    """What the news is for."""

    config: UnitConfig
    board: Board
    faults: FaultBoard
    keeper: RoundKeeper
    meters: MeterBoard
    news: ViewNews

    def state(self) -> str: ...
    def use_settings(self, settings: TableSettings) -> None: ...
    async def submit(self, command: tuple[Any, ...], spoken: str) -> Answer: ...
    async def refuse(self, spoken: str, sentence: str) -> Answer: ...


class ManagerNews:
    def __init__(self, table: Table) -> None:
        self._table = table

    def state(self) -> str:
        return self._table.state()

    def link_changed(self, up: bool) -> None:
        if up:
            for code in PASSING:
                self._table.faults.clear(code, "link")
        self._table.news.tell()

    def link_fault(self, code: str, sentence: str) -> None:
        self._table.faults.raise_(code, "link", sentence, stops_play=True)

    def meters_arrived(self, meters: list[tuple[str, str, int]]) -> None:
        self._table.meters.update(meters)
        self._table.news.tell()

    async def settings_arrived(self, body: bytes) -> None:
        settings, table = TableSettings.decode(body), self._table
        letters = {place.letter for place in table.board.sensors}
        wrong = misfit(settings, table.config.workflow, table.config.seat_count, letters)
        table.faults.set("settings", "link", wrong, stops_play=True)
        if wrong:
            return
        await table.keeper.see_through(self._adopt_settings(settings, body))

    async def _adopt_settings(self, settings: TableSettings, body: bytes) -> None:
        await self._table.keeper.adopt_settings(body)
        self._table.use_settings(settings)

    async def state_arrived(self, state: messages.State, told: Sequence[messages.Event]) -> None:
        """This unit's journal is new: where the table stands, and the round under way."""
        await self._table.keeper.see_through(self._go_on(state, told))

    async def _go_on(self, state: messages.State, told: Sequence[messages.Event]) -> None:
        try:
            await self._table.keeper.adopt_state(state, told)
        except RecoveryFault as fault:
            self.link_fault("restore", str(fault))
            return
        await self._table.submit(commands.resume(), "")

    async def award_arrived(self, award: messages.Award) -> None:
        lines, envy = [list(line) for line in award.lines], [list(line) for line in award.envy]
        command = commands.award(award.claim_number, lines, envy, award.role, award.frozen)
        await self._table.submit(command, "AWARD")

    async def committed_arrived(self, committed: messages.Committed) -> None:
        lines = [list(line) for line in committed.lines]
        envy = [list(line) for line in committed.envy]
        command = commands.committed(committed.claim_number, committed.win_number, lines, envy)
        await self._table.submit(command, "COMMITTED")

    async def claim_refused(self, error: messages.Error) -> None:
        table = self._table
        if error.code == ErrorCode.CARD_REFUSED:
            await table.submit(commands.authority_refused(error.claim_number), "")
        elif error.code == ErrorCode.CLAIM_REFUSED:
            await table.submit(commands.claim_refused(error.claim_number), "")
        claim = table.keeper.state.claim
        if claim is not None and claim.number == error.claim_number:
            table.faults.raise_("claim", f"claim {claim.number}", error.sentence)
        await table.refuse(f"CLAIM {error.claim_number}", error.sentence)
