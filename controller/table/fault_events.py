"""Carries changes of faults to the journal: a fault is noticed anywhere, but recorded in one place.

Bounded: when more faults change at once than can wait, the log says which one was not journaled.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from hal import aio
from protocol.wire.events import Fault

log = logging.getLogger("controller.table.faults")

WAITING_MAX = 64


class FaultEvents:
    def __init__(self, record: Callable[[Fault], Awaitable[object]]) -> None:
        self._record = record
        self._waiting: aio.Mailbox[Fault] = aio.Mailbox(WAITING_MAX)

    def add(self, event: Fault) -> None:
        try:
            self._waiting.put_nowait(event)
        except aio.MailboxFull:
            log.error("a change of fault %s was not journaled: too many at once", event.code)

    async def run(self) -> None:
        while True:
            await self._record(await self._waiting.get())
