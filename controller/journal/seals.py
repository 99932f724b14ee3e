"""Seals the journal: signs the head of its chain right after each claim, and once a day.

The signed head and the seal that names it are taken and recorded in one job of the disk's worker:
no event can come between. The ledger's tail that the manager told last is countersigned with it.
After a power cut between a claim and its seal, the seal is made at the next start. A unit without a
signing key seals nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from hal import aio
from hal.worker import Worker
from kit.clock import WallClock
from protocol.proof.seal import REASON_CLAIM, REASON_DAY, Sealer
from protocol.wire import events
from protocol.wire.rows import SeenTail

log = logging.getLogger("controller.journal.seals")

DAY_MS = 86_400_000
LOOK_EVERY_MS = 600_000
RETRY_MS = 10_000


class ChainSealer:
    def __init__(
        self,
        sealer: Sealer,
        journal: Journal,
        disk: Worker,
        wall_ms: WallClock,
        tell_fault: Callable[[str], None],
        grew: Callable[[], None],
    ) -> None:
        self._sealer = sealer
        self._journal = journal
        self._disk = disk
        self._wall_ms = wall_ms
        self._tell_fault = tell_fault
        self._grew = grew
        self._claim_made = aio.Event()
        self._claim_number = 0
        self._sealed_day = -1

    def begin_with(self, claim_number: int) -> None:
        """The newest claim that was made before this start."""
        self._claim_number = claim_number

    def claim_known(self, claim_number: int) -> None:
        """The newest claim's number, told whenever the round has changed."""
        if claim_number > self._claim_number:
            self._claim_number = claim_number
            self._claim_made.set()

    async def run(self) -> None:
        looked_back = False
        while True:
            try:
                if not looked_back and await self._disk.run(self._has_unsealed_claim):
                    self._claim_made.set()
                looked_back = True
                await self._seal_what_is_due()
                self._tell_fault("")
            except JournalFault as fault:
                self._tell_fault(f"The journal cannot be sealed: {fault}")
                await aio.sleep_ms(RETRY_MS)
                continue
            await self._claim_or_time()

    async def _seal_what_is_due(self) -> None:
        if self._claim_made.is_set():
            await self._seal(REASON_CLAIM)
        if self._wall_ms() // DAY_MS != self._sealed_day:
            await self._seal(REASON_DAY)

    async def _claim_or_time(self) -> None:
        await aio.wait_set_ms(self._claim_made, LOOK_EVERY_MS)

    async def _seal(self, reason: str) -> None:
        self._claim_made.clear()  # one that is made from here on gets a seal of its own
        try:
            await self._disk.run(partial(self._append, reason))
        except JournalFault:
            self._claim_made.set()
            raise
        self._grew()

    def _append(self, reason: str) -> None:
        journal, now_ms = self._journal, self._wall_ms()
        head = journal.last_sequence, journal.last_digest
        told = journal.tail.told
        seen = (SeenTail(told.era, told.number, told.digest),) if told else ()
        seal = self._sealer.seal(journal.journal_id, *head, reason, seen)
        journal.append(events.SEAL, seal.to_body(), aio.ticks_ms(), now_ms)
        if reason == REASON_DAY:
            self._sealed_day = now_ms // DAY_MS
        log.info("event %d is sealed: %s", head[0], reason)

    def _has_unsealed_claim(self) -> bool:
        """Looked up once, at the start; it also finds the day of the last daily seal."""
        journal = self._journal
        claim, sealed_until = journal.records.last_sequence_of(events.CLAIM), 0
        for record in journal.records.newest_first(events.SEAL):
            seal = events.Seal.from_body(record.body)
            sealed_until = max(sealed_until, seal.sealed_sequence)
            if seal.reason == REASON_DAY:
                self._sealed_day = record.wall_ms // DAY_MS
                break
        return claim > sealed_until
