"""Brings alarms to one destination, in order, until each was taken, also after a restart.

The ledger's own list of alarms is the queue. What is kept beside it is one number: the newest alarm
that the destination has taken. A message that was taken just before a power cut is sent once more,
never lost. A destination that was away for long gets the newest alarms and a count of the others.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from kit.files import write_private
from manager.alerts.message import Message
from manager.alerts.senders import NotTaken, PartlyTaken, send
from manager.alerts.settings import Destination
from manager.ledger.alarm_causes import severity_of
from manager.ledger.alarms import Alarms
from manager.ledger.store.store import Store

_log = logging.getLogger(__name__)

LOOK_S = 1.0
TOGETHER_MAX = 20  # alarms in one message
BACKLOG_MAX = 200  # of more, only the newest are sent and the others counted
FIRST_PAUSE_S, PAUSE_MAX_S = 5.0, 15 * 60.0
TOLD_AFTER_TRIES = 3  # from then on the manager's own page says that nobody is paged
FAILED = "ALERTS_FAILED"

Send = Callable[[Destination, Message, int], None]


class Delivered:
    """The newest alarm that each destination has taken, in a small file of the manager's folder."""

    def __init__(self, data: Path) -> None:
        self._path = data / "alerts-delivered.json"
        self._numbers: dict[str, int] = _read(self._path)

    def get(self, name: str) -> int | None:
        return self._numbers.get(name)

    def keep(self, name: str, number: int) -> None:
        """Durable when it returns."""
        self._numbers[name] = number
        write_private(self._path, json.dumps(self._numbers, sort_keys=True).encode())


def _read(path: Path) -> dict[str, int]:
    try:
        found = json.loads(path.read_text("utf-8"))
        return {str(name): int(number) for name, number in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError, TypeError):
        # Sending from now on loses at most what was under way; sending all again would page for
        # alarms of years.
        _log.warning("%s is damaged: alarms are sent from now on.", path)
        return {}


class Delivery:
    """One destination. `now_ms` dates a mail; `wait` lets time pass."""

    def __init__(
        self,
        destination: Destination,
        alarms: Alarms,
        store: Store,
        delivered: Delivered,
        place: str = "",
        sender: Send = send,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = destination.name
        self.tries = 0  # in a row that failed
        self._destination = destination
        self._failure = f"Alarms for {self.name} are not taken"
        self._alarms = alarms
        self._store = store
        self._delivered = delivered
        self._place = place
        self._send = sender
        self._wait = wait
        if delivered.get(self.name) is None:  # whoever is new is not told of the past
            delivered.keep(self.name, self._newest)

    @property
    def waiting(self) -> int:
        """How many alarms the destination has not taken yet, whatever their severity."""
        return max(0, self._newest - self._taken)

    async def run(self) -> None:
        while True:
            try:
                await self.step()
            except OSError as error:  # the note of what was taken could not be written
                _log.error("Alarms for %s: %s", self.name, error)
                await self._wait(PAUSE_MAX_S)

    async def step(self) -> None:
        """Sends what is due, or waits a while."""
        message, last = self._next()
        if message is None:
            if last > self._taken:
                self._delivered.keep(self.name, last)
            await self._wait(LOOK_S)
            return
        # What a power cut could still take back is told to nobody.
        await self._store.commits.until_durable()
        try:
            await asyncio.to_thread(self._send, self._destination, message, self._store.now_ms)
        except PartlyTaken as error:
            _log.warning("Alarms for %s: %s.", self.name, error)
        except NotTaken as error:
            await self._failed(str(error))
            return
        self.tries = 0
        self._delivered.keep(self.name, last)

    # -- inside ------------------------------------------------------------------------------

    @property
    def _taken(self) -> int:
        return self._delivered.get(self.name) or 0

    @property
    def _newest(self) -> int:
        return self._alarms.newest_number

    def _next(self) -> tuple[Message | None, int]:
        """The next message, None when there is none, and the last alarm that is done with it."""
        first = max(self._taken, self._newest - BACKLOG_MAX)
        skipped = first - self._taken
        wanted = []
        last = first
        for alarm in self._alarms.since(first):
            # That the others cannot be reached is told to them only, or it would never end.
            is_own = alarm.code == FAILED and alarm.sentence.startswith(self._failure)
            if severity_of(alarm.code) >= self._destination.severity and not is_own:
                wanted.append(alarm)
            last = alarm.number
            if len(wanted) == TOGETHER_MAX:
                break
        if not wanted:
            return None, last
        return Message(self._place, tuple(wanted), skipped), last

    async def _failed(self, reason: str) -> None:
        self.tries += 1
        pause_s = min(PAUSE_MAX_S, FIRST_PAUSE_S * 2 ** min(self.tries - 1, 20))
        _log.warning("Alarms for %s were not taken: %s.", self.name, reason)
        if self.tries == TOLD_AFTER_TRIES:
            sentence = f"{self._failure}: {reason}. They are sent again."
            self._alarms.record(FAILED, sentence)
        await self._wait(pause_s)
