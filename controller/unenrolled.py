"""A unit that nobody has enrolled yet: it stays up, says on its pages what to do, and waits.

Ending would only make systemd start it again, for ever and without a page that says why. It looks
at its identity every two seconds and returns when that can be used. No hardware is touched here,
so every spot shows as a fault: nobody has looked whether a chip lies there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import Any

from controller import systemd
from controller.config import UnitConfig
from controller.core import lights
from controller.link.enrolling import asking_sentence
from controller.link.identity import IdentityFault, UnitIdentity
from controller.table.answer import Answer
from controller.web.doors import open_doors
from controller.words import HouseWords
from kit.tasks import first_ends_all
from kit.version import SOFTWARE
from kit.web.version_signal import VersionSignal

log = logging.getLogger("controller")

LOOK_EVERY_S = 2  # also how often systemd hears of us, well within its ten seconds
STATUS = "not enrolled"
FAULT = "fault"
NOT_ENROLLED = "This table is not set up yet. Call a technician."


class UnenrolledTable:
    """What the pages show of it, and the answer to whoever presses."""

    def __init__(self, config: UnitConfig, identity: UnitIdentity) -> None:
        self._config = config
        self._identity = identity
        self._news = VersionSignal()
        self.sentence = ""

    def is_enrolled(self) -> bool:
        """Looks at the identity's files; what is missing is logged once, and shown."""
        try:
            self._identity.check(self._config.board.serial)
            self._identity.sealer(self._config.board.serial)
        except IdentityFault as fault:
            self._say(asking_sentence(self._identity) or f"The table is closed: {fault}.")
            return False
        return True

    def _say(self, sentence: str) -> None:
        if sentence != self.sentence:
            self.sentence = sentence
            log.critical(sentence)
            self._news.bump()

    @property
    def view_version(self) -> int:
        return self._news.version

    async def view_changed(self, after: int) -> int:
        return await self._news.changed(after)

    async def press(self, button: str, beside: Collection[str] = ()) -> Answer:
        return Answer(False, NOT_ENROLLED)

    def view(self) -> dict[str, Any]:
        config = self._config
        return {
            "table": config.table_id,
            "name": config.name,
            "title": config.name,
            "workflow": config.workflow,
            "state": FAULT,
            "round": 0,
            "training": False,
            "service": False,
            "deal": None,
            "has_shuffler": False,
            "wagers": 0,
            "joined": [],
            "guide": {
                "sentence": self.sentence,
                "kind": "fault",
                "next": "",
                "lit": [],
                "ends_ms": None,
            },
            "message": {"id": self.view_version, "kind": "info", "text": ""},
            "notice": self.sentence,
            "seats": [self._seat(seat) for seat in range(1, config.seat_count + 1)],
            "games": [],
            "house_rules": [],
            "notices": [],
            "theme": {"accent": "", "background": "", "logo": ""},
            "stop": "",
            "claim": None,
            "can_reopen": False,
            "can_void": False,
            "voided": [],
            "void_reason": "",
            "last_games": [],
            "last_wins": [],
            "round_open": False,
            "pay": None,
            "wins": [],
            "meters": [],
            "link": "down",
            "key": "",
            "faults": [{"code": "identity", "part": "unit", "text": self.sentence}],
            "software": SOFTWARE,
        }

    def _seat(self, seat: int) -> dict[str, Any]:
        sensors = [
            {
                "id": place.id,
                "light": lights.FAULT,
                "presence": FAULT,
                "accepted": False,
                "hand": "",
                "fault": STATUS,
            }
            for place in self._config.board.sensors
            if place.seat == seat
        ]
        return {"seat": seat, "selected": False, "sensors": sensors}


async def wait_until_enrolled(
    config: UnitConfig, identity: UnitIdentity, stop: asyncio.Event
) -> None:
    """Returns when the identity can be used, or when `stop` is set before that."""
    table = UnenrolledTable(config, identity)
    if table.is_enrolled():
        return
    doors = open_doors(config.web)
    words = HouseWords(config.web.language, config.web.display_language)
    log.info("the page that says so is at %s", doors.panel_url)
    log.info("the players' display is at %s", doors.display_url)
    systemd.ready(STATUS)
    await first_ends_all(
        [
            asyncio.create_task(
                doors.serve(table, names=config.web.names, words=words), name="web"
            ),
            asyncio.create_task(_look_again(table), name="look-again"),
            asyncio.create_task(stop.wait(), name="stop"),
        ]
    )


async def _look_again(table: UnenrolledTable) -> None:
    while not table.is_enrolled():
        systemd.watchdog(STATUS)
        await asyncio.sleep(LOOK_EVERY_S)
    # The table has the watchdog's whole patience to open in.
    systemd.watchdog(STATUS)
    log.info("this unit is enrolled now and opens its table")
