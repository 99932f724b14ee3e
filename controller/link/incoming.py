"""What the Game Manager says, turned into what it means at this table.

It passes news on and decides nothing about a round. Every call returns only when what must be
durable is durable.
"""

from __future__ import annotations

from collections.abc import Sequence

from controller.command_intake import CommandIntake
from controller.core.round import commands
from controller.core.round.paying import reversal_sentence
from controller.journal.recovery.opening import RecoveryFault
from controller.keeper import RoundKeeper
from controller.table.dealt_hands import DealtHands
from controller.table.news import TableNews
from controller.table.settings import misfit
from controller.table.state import TableState
from protocol.wire import messages
from protocol.wire.errors import ErrorCode
from protocol.wire.events import Checked
from protocol.wire.settings import TableSettings

# What a manager's people read while a technician has closed the table.
IN_SERVICE = "service"
# What a welcome shows to be over.
PASSING = (
    "fork",
    "locked",
    "unknown_unit",
    "version",
    "counters",
    "wager",
    "restore",
    "tail",
    "certificate",
)


class ManagerNews:
    def __init__(
        self,
        table: TableState,
        keeper: RoundKeeper,
        intake: CommandIntake,
        news: TableNews,
        deal: DealtHands,
    ) -> None:
        self._table = table
        self._keeper = keeper
        self._intake = intake
        self._news = news
        self._deal = deal

    def state(self) -> str:
        if self._table.service.is_on:
            return IN_SERVICE
        return self._table.word(self._keeper.live_state.phase())

    def link_changed(self, up: bool) -> None:
        self._table.link_up = up
        if up:
            for code in PASSING:
                self._table.faults.clear(code, "link")
        self._news.shown.bump()

    def link_fault(self, code: str, sentence: str) -> None:
        self._table.faults.raise_(code, "link", sentence, stops_play=True)

    def meters_arrived(self, meters: list[tuple[str, str, int]]) -> None:
        self._table.meters.update(meters)
        self._news.shown.bump()

    async def settings_arrived(self, body: bytes) -> None:
        settings, table = TableSettings.decode(body), self._table
        letters = {sensor.letter for sensor in table.config.board.sensors}
        wrong = misfit(settings, table.config.workflow, table.config.seat_count, letters)
        table.faults.set("settings", "link", wrong, stops_play=True)
        if wrong:
            return
        await self._keeper.see_through(self._adopt_settings(settings, body))

    async def _adopt_settings(self, settings: TableSettings, body: bytes) -> None:
        await self._keeper.adopt_settings(body)
        self._table.use_settings(settings)
        self._news.shown.bump()

    async def state_arrived(self, state: messages.State, told: Sequence[messages.Event]) -> None:
        """This unit's journal is new: where the table stands, and the round under way."""
        await self._keeper.see_through(self._go_on(state, told))

    async def _go_on(self, state: messages.State, told: Sequence[messages.Event]) -> None:
        await self._intake.end_training()
        try:
            await self._keeper.adopt_state(state, told)
        except RecoveryFault as fault:
            self.link_fault("restore", str(fault))
            return
        await self._intake.submit_news(commands.resume(), "")

    async def award_arrived(self, award: messages.Award) -> None:
        lines, envy = [list(line) for line in award.lines], [list(line) for line in award.envy]
        command = commands.award(award.claim_number, lines, envy, award.role, award.frozen)
        await self._intake.submit_news(command, "AWARD")

    async def committed_arrived(self, committed: messages.Committed) -> None:
        lines = [list(line) for line in committed.lines]
        envy = [list(line) for line in committed.envy]
        command = commands.committed(committed.claim_number, committed.win_number, lines, envy)
        await self._intake.submit_news(command, "COMMITTED")

    async def hand_check_arrived(self, check: messages.HandCheck) -> None:
        """What people see of it is durable first: it belongs to the evidence of a win."""
        hands = tuple(check.hands)
        if self._deal.checks.get(check.claim_number) == hands:
            return  # a repeat
        recorded = await self._intake.record(Checked(check.claim_number, hands))
        if recorded.accepted:
            self._deal.checks[check.claim_number] = hands
            self._news.shown.bump()

    def cover_all_arrived(self, column: messages.CoverAll) -> None:
        self._deal.use_column(column)
        self._news.shown.bump()

    async def reversed_arrived(self, reversal: messages.Reversed) -> None:
        """A win was taken back: noted first, then said, with what must come back from whom."""
        state, number = self._keeper.live_state, reversal.win_number
        known = {win.win_number for win in state.wins}
        if state.is_taken_back(number):
            return  # a repeat
        noted = await self._intake.submit_news(commands.reversed_win(number))
        if noted.accepted:
            sentence = reversal_sentence(state, number) if number in known else reversal.sentence
            self._news.tell(sentence)

    async def void_arrived(self, order: messages.Void) -> None:
        """The guide says what to give back; a win that is being entered stands in its way."""
        command = commands.voided_there(order.round_number, order.reason, order.ticket)
        await self._intake.submit_news(command, commands.VOID)

    async def claim_refused(self, error: messages.Error) -> None:
        if error.code == ErrorCode.CARD_REFUSED:
            await self._intake.submit_news(commands.authority_refused(error.claim_number), "")
        elif error.code == ErrorCode.CLAIM_REFUSED:
            await self._intake.submit_news(commands.claim_refused(error.claim_number), "")
        elif error.code == ErrorCode.BACKED_OUT:
            await self._intake.submit_news(commands.backed_out(error.claim_number), "")
        claim = self._keeper.live_state.claim
        if claim is not None and claim.number == error.claim_number:
            self._table.faults.raise_("claim", f"claim {claim.number}", error.sentence)
        await self._intake.refuse(f"CLAIM {error.claim_number}", error.sentence)
