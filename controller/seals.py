"""Seals the journal: signs the head of its chain right after each claim, and once a day.

The signed head and the seal that names it are taken and recorded in one job of the disk's worker:
no event can come between. After a power cut between a claim and its seal, the seal is made at the
next start. A unit without a signing key seals nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from controller.fault_board import FaultBoard
from controller.journal import Journal
from controller.journal_file import JournalFault
from hal import aio
from hal.clock import WallClock
from hal.worker import Worker
from protocol import events
from protocol.seal import REASON_CLAIM, REASON_DAY, Sealer

log = logging.getLogger("controller.seals")

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
        faults: FaultBoard,
        grew: Callable[[], None],
    ) -> None:
        self._sealer = sealer
        self._journal = journal
        self._disk = disk
        self._wall_ms = wall_ms
        self._faults = faults
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
                self._faults.clear("seal", "journal")
            except JournalFault as fault:
                self._faults.raise_("seal", "journal", f"The journal cannot be sealed: {fault}")
                await aio.sleep_ms(RETRY_MS)
                continue
            await self._claim_or_time()

    async def _seal_what_is_due(self) -> None:
        if self._claim_made.is_set():
            await self._seal(REASON_CLAIM)
        if self._wall_ms() // DAY_MS != self._sealed_day:
            await self._seal(REASON_DAY)

    async def _claim_or_time(self) -> None:
        try:
            await aio.wait_for_ms(self._claim_made.wait(), LOOK_EVERY_MS)
        except aio.TimeoutError:
            return

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
        seal = self._sealer.seal(journal.journal_id, *head, reason)
        journal.append(events.SEAL, seal.to_body(), aio.ticks_ms(), now_ms)
        if reason == REASON_DAY:
            self._sealed_day = now_ms // DAY_MS
        log.info("event %d is sealed: %s", head[0], reason)

    def _has_unsealed_claim(self) -> bool:
        """Looked up once, at the start; it also finds the day of the last daily seal."""
        journal = self._journal
        claim = journal.records.last_sequence_of(events.CLAIM)
        sequence, sealed_until = journal.records.last_sequence_of(events.SEAL), 0
        while sequence:
            record = journal.records.after(sequence - 1, 1)[0]
            seal = events.Seal.from_body(record.body)
            sealed_until = max(sealed_until, seal.sealed_sequence)
            if seal.reason == REASON_DAY:
                self._sealed_day = record.wall_ms // DAY_MS
                break
            sequence = journal.records.last_sequence_of(events.SEAL, before_sequence=sequence)
        return claim > sealed_until
