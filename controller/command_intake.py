"""Takes commands for the round, from people, the felt and the manager, under the rules of now.

It alone knows what happens when the journal fails: nothing is acted on that could not be made
durable first, so the table closes and says why.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from controller.journal.file import JournalFault
from controller.keeper import RoundKeeper
from controller.table.answer import Answer
from controller.table.news import TableNews
from controller.table.state import TableState
from protocol.wire.events import EventBody, Service
from protocol.wire.fields import clipped

CANNOT_RECORD = "This unit cannot record what happens, so the table is closed. Call service."
SERVICE_MODE = "service"
SERVICE_LABEL_BYTES_MAX = 40
SERVICE_LATER = "A game or a training is under way. Service can begin when it has ended."


class CommandIntake:
    def __init__(self, keeper: RoundKeeper, table: TableState, news: TableNews) -> None:
        self._keeper = keeper
        self._table = table
        self._news = news
        self.can_record = True

    @property
    def is_round_open(self) -> bool:
        return self._keeper.state.round_open

    @property
    def is_training(self) -> bool:
        return self._keeper.training is not None

    async def submit(self, command: tuple[Any, ...], spoken: str = "") -> Answer:
        """`spoken` is what a person did, "" when nobody waits for an answer."""
        return await self._kept(self._keeper.submit(self._table.rules_now(), command, spoken))

    async def submit_news(self, command: tuple[Any, ...], spoken: str = "") -> Answer:
        """What the manager says concerns the table's own round, so a training ends first."""
        await self.end_training()
        return await self.submit(command, spoken)

    async def begin_training(self, by: str) -> Answer:
        return await self._kept(self._keeper.begin_training(self._table.meters.meters, by))

    async def end_training(self) -> None:
        await self._kept(self._keeper.end_training())

    async def begin_service(self, by: str) -> Answer:
        """A technician gets the table, between games and not in a training."""
        begun = _service(SERVICE_MODE, by, "begun")

        def begin() -> None:
            self._table.service.begin(by)
            self._table.rules_now()  # whatever waits for its turn sees it

        return await self._kept(self._keeper.record(begun, begin, SERVICE_LATER))

    async def end_service(self, result: str) -> None:
        """Back to what was before; recorded with why it ended."""
        service = self._table.service
        if not service.is_on:
            return
        by = service.tech
        service.end()
        self._table.rules_now()
        await self.record_service(SERVICE_MODE, by, result)

    async def record_service(self, function: str, by: str, result: str) -> Answer:
        """What a technician did at the table, and how it ended."""
        return await self.record(_service(function, by, result))

    async def refuse(self, spoken: str, sentence: str) -> Answer:
        """Input that never became a command."""
        return await self._kept(self._keeper.refuse(spoken, sentence))

    async def record(self, body: EventBody) -> Answer:
        """Something that does not change the round."""
        return await self._kept(self._keeper.record(body))

    async def _kept(self, work: Awaitable[Answer]) -> Answer:
        """What the keeper answers, or what is said when it cannot write."""
        try:
            return await work
        except JournalFault as fault:
            return self.cannot_record(fault)

    def cannot_record(self, fault: JournalFault) -> Answer:
        self.can_record = False
        sentence = f"{CANNOT_RECORD} ({fault})"
        self._table.faults.raise_("journal", "disk", sentence, stops_play=True)
        answer = Answer(False, CANNOT_RECORD)
        self._news.say(answer, "journal")
        return answer


def _service(function: str, by: str, result: str) -> Service:
    return Service(function, clipped(by, SERVICE_LABEL_BYTES_MAX), clipped(result))
