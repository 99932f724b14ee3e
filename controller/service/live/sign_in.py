"""Signs a technician in at a running table: by name and PIN, with the usual lock-out.

The rules are `controller.service.admission`'s; here they are asked beside a table that plays. The
PIN is checked on the worker of what no bet waits for, and one at a time. Each try is in the journal
before it is answered.
"""

from __future__ import annotations

from collections.abc import Iterator

from controller.command_intake import CANNOT_RECORD, CommandIntake
from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.service.admission import ServiceAdmission, ServiceRefused
from controller.service.log import LOOK_BACK_MAX, JournalBook, Use
from controller.table.state import TableState
from hal import aio
from hal.errors import WorkerBusy
from hal.worker import Worker
from kit.clock import WallClock

FUNCTION = "service page"
NO_NAME = "Type your name as the table's settings have it."
NO_SETTINGS = "This unit has no settings yet and knows no technician. Let it reach its manager."
BUSY = "The unit is busy. Try again."


class SignIn:
    def __init__(
        self,
        table: TableState,
        intake: CommandIntake,
        journal: Journal,
        disk: Worker,
        aside: Worker,
        wall_ms: WallClock,
    ) -> None:
        """`aside` is the worker of what no bet waits for."""
        self._table = table
        self._intake = intake
        self._journal = journal
        self._disk = disk
        self._aside = aside
        self._wall_ms = wall_ms
        self._turn = aio.Lock()

    async def admit(self, label: str, pin: str) -> None:
        """Returns when this technician is let in; raises ServiceRefused with the sentence."""
        async with self._turn:
            await self._admit(label, pin)

    async def _admit(self, label: str, pin: str) -> None:
        settings = self._table.settings
        if settings is None:
            # A command line proves that somebody stands at the unit. A page proves nothing.
            raise ServiceRefused(NO_SETTINGS)
        if not label:
            raise ServiceRefused(NO_NAME)
        try:
            past = await self._disk.run(lambda: list(JournalBook(self._journal).newest_first()))
            book = _Noted(past)
            admission = ServiceAdmission(book, self._wall_ms)
            try:
                await self._aside.run(
                    lambda: admission.admit(settings, FUNCTION, label, lambda: pin)
                )
            finally:
                for use in book.noted:
                    await self._record(use)
        except (JournalFault, WorkerBusy) as error:
            raise ServiceRefused(BUSY) from error

    async def _record(self, use: Use) -> None:
        recorded = await self._intake.record_service(use.function, use.tech, use.result)
        if not recorded.accepted:
            raise ServiceRefused(CANNOT_RECORD)


class _Noted:
    """A book of uses that holds what was read of the journal, and what is to be written to it."""

    def __init__(self, newest_first: list[Use]) -> None:
        self._past = newest_first
        self.noted: list[Use] = []

    def write(self, use: Use) -> None:
        self.noted.append(use)

    def newest_first(self) -> Iterator[Use]:
        return iter([*reversed(self.noted), *self._past][:LOOK_BACK_MAX])
