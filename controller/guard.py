"""The table's security in one place: cards, the cabinet, the journal's seals.

It puts the three together and gives them back, after a power cut, what the journal remembers.
None of them decides about a round.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol

from controller import tamper
from controller.card_desk import WRONG_CARD, CardDesk
from controller.core import commands
from controller.fault_board import FaultBoard
from controller.journal import Journal
from controller.journal_file import JournalFault
from controller.journal_records import JournalRecord
from controller.link import ManagerLink
from controller.round_keeper import Answer, RoundKeeper
from controller.seals import ChainSealer
from controller.tamper import TamperLatch
from hal.clock import WallClock
from hal.worker import Worker
from protocol import events
from protocol.seal import Sealer
from protocol.settings import TableSettings

RELEASE = "cabinet release"


class GuardOwner(Protocol):
    """What the guard needs of the table it guards."""

    faults: FaultBoard
    keeper: RoundKeeper
    link: ManagerLink

    async def submit(self, command: tuple[Any, ...], spoken: str) -> Answer: ...
    async def refuse(self, spoken: str, sentence: str) -> Answer: ...


class TableGuard:
    def __init__(
        self,
        owner: GuardOwner,
        journal: Journal,
        disk: Worker,
        wall_ms: WallClock,
        sealer: Sealer | None,
    ) -> None:
        self._owner = owner
        self._journal = journal
        self._disk = disk
        self._wall_ms = wall_ms
        self.cards = CardDesk(owner.faults, self._now_ms)
        self.cabinet = TamperLatch(owner.faults)
        self.seals: ChainSealer | None = None
        if sealer:
            grew = owner.link.journal_grew
            self.seals = ChainSealer(sealer, journal, disk, wall_ms, owner.faults, grew)

    async def restore(self, settings: TableSettings | None) -> None:
        if self.seals:
            self.seals.begin_with(self._owner.keeper.state.last_claim_number)
        if settings is None:
            return
        self.cabinet.restore(await self._disk.run(self._cabinet_was_open))
        wrong_ages_ms = await self._disk.run(partial(self._wrong_card_ages_ms, settings))
        self.cards.restore(settings, wrong_ages_ms)

    def adopt(self, settings: TableSettings) -> None:
        self.cabinet.use_policy(settings.tamper_stops)

    def round_changed(self) -> None:
        if self.seals:
            self.seals.claim_known(self._owner.keeper.state.last_claim_number)

    async def card_swiped(self, settings: TableSettings | None, account: str) -> Answer:
        owner = self._owner
        if settings is None:
            return await owner.refuse("CARD", "No card is known: the manager was never reached.")
        verdict = self.cards.judge(settings, account)
        if verdict.card is None:
            return await owner.refuse(verdict.spoken, verdict.refusal)
        released = await self.supervisor_came(verdict.card.label)
        if released is not None:
            return released
        return await owner.submit(commands.card(verdict.card.role, verdict.digest), "CARD")

    async def supervisor_came(self, who: str) -> Answer | None:
        """Releases a cabinet that waits for it; None when there is nothing to release now."""
        owner = self._owner
        if not self.cabinet.awaits_release or owner.keeper.state.round_open:
            return None
        why_not = self.cabinet.why_not_released()
        if why_not:
            return await owner.refuse(RELEASE, why_not)
        try:
            await owner.keeper.record(events.Service(RELEASE, who, "released"))
        except JournalFault as fault:
            return await owner.refuse(RELEASE, f"The release cannot be recorded: {fault}")
        self.cabinet.release()
        return Answer(True, "")

    def _now_ms(self) -> int:
        """The manager's time where it is known: a unit's own clock may be wrong."""
        manager_ms = self._owner.link.manager_now_ms()
        return self._wall_ms() if manager_ms is None else manager_ms

    def _cabinet_was_open(self) -> bool:
        for record in self._newest(events.FAULT):
            fault = events.Fault.from_body(record.body)
            if fault.code == tamper.CODE:
                return fault.raised
        return False

    def _wrong_card_ages_ms(self, settings: TableSettings) -> list[int]:
        """How long ago the wrong cards were swiped that may still count, oldest first."""
        counts_for_ms = (settings.wrong_cards_within_s + settings.card_lockout_s) * 1000
        now_ms = self._wall_ms()
        ages_ms = [
            now_ms - record.wall_ms
            for record in self._newest(events.REFUSED)
            if now_ms - record.wall_ms <= counts_for_ms  # a clock may have been set in between
            and events.Refused.from_body(record.body).command.startswith(WRONG_CARD)
        ]
        return ages_ms[::-1]

    def _newest(self, kind: int) -> Iterator[JournalRecord]:
        """The records of a kind, newest first: however many others came after the one sought."""
        sequence = self._journal.records.last_sequence_of(kind)
        while sequence:
            yield self._journal.records.after(sequence - 1, 1)[0]
            sequence = self._journal.records.last_sequence_of(kind, before_sequence=sequence)
