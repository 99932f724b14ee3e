"""Admits a tech to a service function, and journals who used what and how it ended.

A tech is known by a label and a PIN from the table's settings. Wrong PINs are counted in the
journal, so neither a restart nor another terminal gives more tries. A unit that never had settings
(as delivered) has no techs yet: it admits anyone, and says and journals so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile

from controller.journal import Journal
from hal import aio
from hal.clock import WallClock
from protocol import events
from protocol.fields import clipped
from protocol.pins import is_pin
from protocol.settings import TableSettings

WRONG_PINS_MAX = 5
LOCKOUT_MS = 15 * 60 * 1000
LOOK_BACK_MAX = 64

ADMITTED = "admitted"
AS_DELIVERED = "admitted without a PIN: the unit is as delivered and knows no tech"
WRONG_PIN = "refused: wrong PIN"
UNKNOWN_TECH = "refused: no such tech"
LOCKED_OUT = "refused: too many wrong PINs"


class ServiceRefused(Exception):  # noqa: N818 - a sentence for the tech
    """The service function is not for this person, or not now."""


class ServiceDesk:
    def __init__(self, journal: Journal, wall_ms: WallClock) -> None:
        self._journal = journal
        self._wall_ms = wall_ms

    def admit(self, function: str, label: str, ask_pin: Callable[[], str]) -> str:
        """Lets a tech in or raises; returns what to tell about it. Durable when it returns."""
        stored = self._journal.beside.settings()
        if stored is None:
            self.record(function, "", AS_DELIVERED)
            return "This unit is as delivered: no PIN is asked before the manager's first settings."
        settings = TableSettings.decode(stored.body)
        wait_s = self._lockout_left_s()
        if wait_s:
            self._record_lockout(function, label)
            raise ServiceRefused(f"Too many wrong PINs. Wait {wait_s} s.")
        self._check(settings, function, label, ask_pin)
        self.record(function, label, ADMITTED)
        return f"{label} is admitted to {function}."

    def record(self, function: str, label: str, result: str) -> None:
        body = events.Service(function, label, clipped(result)).to_body()
        self._journal.append(events.SERVICE, body, aio.ticks_ms(), self._wall_ms())

    def _check(
        self, settings: TableSettings, function: str, label: str, ask_pin: Callable[[], str]
    ) -> None:
        if not settings.techs:
            raise ServiceRefused("No tech is entered for this table; ask the operator to add one.")
        if not label:
            raise ServiceRefused("Say who you are: --tech LABEL.")
        tech = next((each for each in settings.techs if each.label == label), None)
        # A PIN is asked for either way: whether the name exists is nobody's business.
        pin = ask_pin()
        if tech is None:
            self.record(function, clipped(label, 40), UNKNOWN_TECH)
        elif is_pin(pin, tech.salt, tech.pin_hash):
            return
        else:
            self.record(function, label, WRONG_PIN)
        raise ServiceRefused("This name and PIN do not belong together.")

    def _record_lockout(self, function: str, label: str) -> None:
        """Once each time: whoever goes on asking must not push the wrong PINs out of sight."""
        _, newest = next(self._uses(), (0, ""))
        if newest != LOCKED_OUT:
            self.record(function, clipped(label, 40), LOCKED_OUT)

    def _lockout_left_s(self) -> int:
        """Seconds until a PIN is asked again; a clock that went back makes it longer."""
        ages_ms = [max(0, self._wall_ms() - at_ms) for at_ms in self._wrong_pins_at()]
        if len(ages_ms) < WRONG_PINS_MAX or ages_ms[WRONG_PINS_MAX - 1] >= LOCKOUT_MS:
            return 0
        return max(0, LOCKOUT_MS - ages_ms[0] + 999) // 1000

    def _wrong_pins_at(self) -> list[int]:
        """When wrong PINs were given since the last right one, newest first."""
        since = takewhile(lambda use: use[1] != ADMITTED, self._uses())
        return [at_ms for at_ms, result in since if result in (WRONG_PIN, UNKNOWN_TECH)]

    def _uses(self) -> Iterator[tuple[int, str]]:
        """When service functions were asked for and how it ended, newest first."""
        records = self._journal.records
        sequence = records.last_sequence_of(events.SERVICE)
        for _ in range(LOOK_BACK_MAX):
            if not sequence:
                return
            record = records.after(sequence - 1, 1)[0]
            yield record.wall_ms, events.Service.from_body(record.body).result
            sequence = records.last_sequence_of(events.SERVICE, before_sequence=sequence)
