"""Service mode: the table is closed for a technician, and is itself again when the technician goes.

It alone knows how long a technician may be out of sight. The lamps stop being exercised a few
seconds after the page went silent; after two minutes the table opens again by itself. One piece of
work has the board at a time. Whether a game is under way is the round's to say.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from controller.command_intake import CommandIntake
from controller.lights.table_lights import TableLights
from controller.service.admission import ServiceRefused
from controller.table.service_state import ServiceState
from hal import aio
from hal.board.open import Board
from hal.errors import HardwareFault

log = logging.getLogger("controller.service.live.mode")

LOOK_EVERY_MS = 500
# A page takes several views a second; one that is reloaded is back well within this.
LAMPS_WITHOUT_PAGE_MS = 5000
MODE_WITHOUT_PAGE_MS = 120_000

ENDED, LOST = "ended", "ended by itself: the technician's page was gone"
NOT_IN_SERVICE = "Close the table first: press SERVICE MODE."
BUSY = "The board is in use: wait, or stop the work that is under way."

BoardWork = Callable[[Board], Awaitable[None]]
Lend = Callable[[BoardWork], Awaitable[None]]


class ServiceMode:
    def __init__(
        self, intake: CommandIntake, state: ServiceState, lights: TableLights, lend: Lend
    ) -> None:
        """`lend` gives the board to one piece of work and takes it back, whatever happens."""
        self._intake = intake
        self._state = state
        self.lights = lights
        self._lend = lend
        self._seen_ms = aio.ticks_ms()
        self._work: asyncio.Task[None] | None = None
        self.work_name = ""
        self.work_sentence = ""

    @property
    def is_on(self) -> bool:
        return self._state.is_on

    @property
    def tech(self) -> str:
        return self._state.tech

    def seen(self) -> None:
        """A technician's page has just taken a view."""
        self._seen_ms = aio.ticks_ms()

    async def enter(self, tech: str) -> None:
        """Closes the table, or raises with the reason why not now."""
        if self.is_on:
            raise ServiceRefused(f"{self.tech or 'Somebody'} has this table in service already.")
        self.seen()
        self.work_sentence = ""
        answer = await self._intake.begin_service(tech)
        if not answer.accepted:
            raise ServiceRefused(answer.sentence)
        self.lights.show()

    async def leave(self, result: str = ENDED) -> None:
        """Back to the state before; what is under way ends first."""
        if not self.is_on:
            return
        await self.stop_work()
        self.lights.exercise({})
        await self._intake.end_service(result)
        self.lights.show()

    def exercise(self, light_by_sensor: Mapping[str, str]) -> None:
        self.require()
        self.lights.exercise(light_by_sensor)

    def require(self) -> None:
        if not self.is_on:
            raise ServiceRefused(NOT_IN_SERVICE)

    async def record(self, function: str, result: str) -> None:
        """What a technician found, in the journal."""
        await self._intake.record_service(function, self.tech, result)

    # -- work on the board -------------------------------------------------------------------

    @property
    def is_working(self) -> bool:
        return self._work is not None and not self._work.done()

    def begin_work(self, name: str, work: BoardWork) -> None:
        """Lends the board to this; its end is told by `is_working` and `work_sentence`."""
        self.require()
        if self.is_working:
            raise ServiceRefused(BUSY)
        self.work_name, self.work_sentence = name, ""
        self.lights.exercise({})
        self._work = aio.create_task(self._do(work), name=f"service {name}")

    async def stop_work(self) -> None:
        """Stops it where it stands; the table has its board back when this returns."""
        if self.is_working:
            await self.abandon_work()
            self.work_sentence = "Stopped."
            await self._intake.record_service(self.work_name, self.tech, "stopped")

    async def abandon_work(self) -> None:
        """The same for a unit that goes down: nothing is recorded any more."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _do(self, work: BoardWork) -> None:
        await self._try(work)
        result = f"failed: {self.work_sentence}" if self.work_sentence else "done"
        await self._intake.record_service(self.work_name, self.tech, result)

    async def _try(self, work: BoardWork) -> None:
        try:
            await self._lend(work)
        except (HardwareFault, ServiceRefused, OSError) as error:
            self.work_sentence = str(error)
        except Exception:
            log.exception("service work %s failed", self.work_name)
            self.work_sentence = "It failed by a mistake of this software; the log has it."

    # -- a page that is gone -----------------------------------------------------------------

    async def run(self) -> None:
        """Gives the table back to itself when nobody looks any more."""
        while True:
            await self._state.begun.wait()
            await aio.sleep_ms(LOOK_EVERY_MS)
            if not self.is_on:
                continue
            gone_ms = aio.ticks_diff(aio.ticks_ms(), self._seen_ms)
            if gone_ms >= LAMPS_WITHOUT_PAGE_MS and self.lights.is_exercised:
                log.warning("the technician's page is gone: the lamps are the table's again")
                self.lights.exercise({})
            if gone_ms >= MODE_WITHOUT_PAGE_MS:
                log.warning("the technician's page is gone: service mode ends")
                await self.leave(LOST)

    def view(self) -> dict[str, Any]:
        return {
            "on": self.is_on,
            "tech": self.tech,
            "work": self.work_name if self.is_working else "",
            "sentence": self.work_sentence,
        }
