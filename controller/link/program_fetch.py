"""A new program that the manager offers: fetched between games, a little at each heartbeat.

The manager's heartbeat names the program. Ours says how much of it has come, and the manager sends
the next parts. So a lost link, a restart of either end or a lost part need nothing of their own.
What becomes of the program is the updater's business; this only tells the manager.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from controller.link.program_spool import NoRoom, ProgramSpool
from hal import aio
from hal.errors import HardwareFault
from hal.worker import Worker
from protocol.wire.messages import ProgramPart
from protocol.wire.program_steps import DISK, GAME, NO_IMAGE, NO_ROOM, TRANSFER, Step
from protocol.wire.rows import PROGRAM_PART_BYTES, ProgramOffer, ProgramReport

log = logging.getLogger("controller.link")

WINDOW_BYTES: Final = 64 * PROGRAM_PART_BYTES  # that a manager may send after one heartbeat
TRIES_MAX: Final = 3
FULL: Final = (errno.ENOSPC, errno.EDQUOT)

T = TypeVar("T")


class ProgramFetch:
    """`spool`, `worker` and `is_between_rounds` are given when the unit is put together.

    A unit that was installed by hand has no spool.
    """

    def __init__(self) -> None:
        self.spool: ProgramSpool | None = None
        self.worker: Worker | None = None
        self.is_between_rounds: Callable[[], bool] = lambda: False
        # For the panel: why this unit takes no update, and which; a code of "" when it is well.
        self.tell: Callable[[str, str], None] = lambda code, version: None
        self._offer: ProgramOffer | None = None
        self._begun: ProgramOffer | None = None  # the one that `_place` counts
        self._report: tuple[ProgramReport, ...] = ()
        self._place = 0
        self._came = bytearray()  # and is not on the disk yet
        self._tries = 0
        self._is_withdrawn = False
        self._heard = aio.Event()

    def offered(self, offers: tuple[ProgramOffer, ...]) -> None:
        """What this heartbeat of the manager offers; nothing, most of the time."""
        self._offer = offers[0] if offers else None
        if self._offer is None:
            self._report = ()
        self._heard.set()

    def take(self, part: ProgramPart) -> None:
        """Some more bytes. What was not asked for, came before or leaves a gap is passed over."""
        begun = self._begun
        if begun is None or part.rollout != begun.rollout:
            return
        place = self._place + len(self._came)
        if part.place != place or place >= self._place + WINDOW_BYTES:
            return
        self._came += part.content[: begun.size - place]
        if len(self._came) >= WINDOW_BYTES or self._place + len(self._came) >= begun.size:
            self._heard.set()

    def report(self) -> tuple[ProgramReport, ...]:
        """For our next heartbeat."""
        return self._report

    async def run(self) -> None:
        while True:
            await self._heard.wait()
            self._heard.clear()
            try:
                await self._look()
            except (OSError, HardwareFault) as error:
                log.error("a new program cannot be kept: %s", error)
                self._forget()
                is_full = isinstance(error, OSError) and error.errno in FULL
                self._say(*((Step.REFUSED, NO_ROOM) if is_full else (Step.WAITS, DISK)))

    async def _look(self) -> None:
        offer, spool = self._offer, self.spool
        if spool is None:
            self._say(Step.CANNOT, NO_IMAGE)
        elif offer is None:
            await self._withdraw(spool)
        else:
            self._is_withdrawn = False
            known = await self._on_disk(partial(spool.standing, offer))
            if known is not None:
                self._forget()
                self._say(*known)
            elif await self._is_begun(spool, offer):
                await self._keep(spool, offer)

    async def _withdraw(self, spool: ProgramSpool) -> None:
        """Also what an earlier start has left behind."""
        if not self._is_withdrawn:
            self._forget()
            await self._on_disk(spool.withdraw)
            self._is_withdrawn = True

    async def _is_begun(self, spool: ProgramSpool, offer: ProgramOffer) -> bool:
        if self._begun is None or self._begun[1:] != offer[1:]:
            self._forget()
            try:
                self._place = await self._on_disk(partial(spool.begin, offer))
            except NoRoom:
                self._say(Step.REFUSED, NO_ROOM)
                return False
        if self._tries >= TRIES_MAX:
            self._say(Step.REFUSED, TRANSFER)
            return False
        self._begun = offer
        return True

    async def _keep(self, spool: ProgramSpool, offer: ProgramOffer) -> None:
        content = bytes(self._came)
        if content:
            await self._on_disk(partial(spool.append, self._place, content))
            self._place += len(content)
            del self._came[: len(content)]  # more may have come meanwhile
        if self._place < offer.size:
            fetches = self.is_between_rounds()
            self._say(*((Step.FETCHING, "") if fetches else (Step.WAITS, GAME)))
            return
        hashing = spool.hashing()
        found = None
        while found is None:
            found = await self._on_disk(partial(next, hashing))
        if found == offer.digest:
            await self._on_disk(partial(spool.hand_over, offer))
            self._say(Step.HANDED_OVER, "")
            return
        log.error("a new program came, and is not the one that was offered")
        self._tries += 1
        self._place = 0
        await self._on_disk(spool.throw_away)
        self._say(Step.WAITS, TRANSFER)

    def _forget(self) -> None:
        self._begun, self._place, self._tries = None, 0, 0
        self._came.clear()

    def _say(self, step: Step, reason: str) -> None:
        offer = self._offer
        if offer is not None:
            # The rest the updater says. It stays on the panel until the next offer, as that does.
            own = step is Step.REFUSED and reason in (NO_ROOM, TRANSFER)
            self.tell(reason if own else "", offer.version)
            self._report = (ProgramReport(offer.rollout, step, self._place, reason),)

    async def _on_disk(self, job: Callable[[], T]) -> T:
        assert self.worker is not None, "a unit with a spool has a worker for it"
        return await self.worker.run(job)
