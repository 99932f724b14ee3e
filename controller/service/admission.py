"""Admits a tech to a service function, and writes down who used what and how it ended.

A tech is known by a label and a PIN from the table's settings. Wrong PINs are counted in a durable
book, so neither a restart nor another terminal gives more tries. A unit that never had settings
(as delivered) has no techs yet: it admits anyone, and says and writes so.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from controller.service.log import ServiceBook, Use
from kit.clock import WallClock
from protocol.secrets.tech_pin import is_pin
from protocol.wire.settings import TableSettings

WRONG_PINS_MAX = 5
LOCKOUT_MS = 15 * 60 * 1000

ADMITTED = "admitted"
AS_DELIVERED = "admitted without a PIN: the unit is as delivered and knows no tech"
WRONG_PIN = "refused: wrong PIN"
UNKNOWN_TECH = "refused: no such tech"
LOCKED_OUT = "refused: too many wrong PINs"


class ServiceRefused(Exception):  # noqa: N818 - a sentence for the tech
    """The service function is not for this person, or not now."""


class ServiceAdmission:
    def __init__(self, book: ServiceBook, wall_ms: WallClock) -> None:
        self._book = book
        self._wall_ms = wall_ms

    def admit(
        self,
        settings: TableSettings | None,
        function: str,
        label: str,
        ask_pin: Callable[[], str],
    ) -> str:
        """Lets a tech in or raises; returns what to tell about it. Durable when it returns."""
        if settings is None:
            self.record(function, "", AS_DELIVERED)
            return "This unit is as delivered: no PIN is asked before the manager's first settings."
        wait_s = self._lockout_left_s()
        if wait_s:
            self._record_lockout(function, label)
            raise ServiceRefused(f"Too many wrong PINs. Wait {wait_s} s.")
        self._check(settings, function, label, ask_pin)
        self.record(function, label, ADMITTED)
        return f"{label} is admitted to {function}."

    def record(self, function: str, label: str, result: str) -> None:
        self._book.write(Use(self._wall_ms(), function, label, result))

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
            self.record(function, label, UNKNOWN_TECH)
        elif is_pin(pin, tech.salt, tech.pin_hash):
            return
        else:
            self.record(function, label, WRONG_PIN)
        raise ServiceRefused("This name and PIN do not belong together.")

    def _record_lockout(self, function: str, label: str) -> None:
        """Records a lock-out once: repeats would push the wrong PINs out of what is looked at."""
        newest = next(self._book.newest_first(), None)
        if newest is None or newest.result != LOCKED_OUT:
            self.record(function, label, LOCKED_OUT)

    def _lockout_left_s(self) -> int:
        """Seconds until a PIN is asked again; a clock that went back makes it longer."""
        ages_ms = [max(0, self._wall_ms() - at_ms) for at_ms in self._wrong_pins_at()]
        if len(ages_ms) < WRONG_PINS_MAX or ages_ms[WRONG_PINS_MAX - 1] >= LOCKOUT_MS:
            return 0
        return max(0, LOCKOUT_MS - ages_ms[0] + 999) // 1000

    def _wrong_pins_at(self) -> list[int]:
        """When wrong PINs were given since the last right one, newest first."""
        since = takewhile(lambda use: use.result != ADMITTED, self._book.newest_first())
        return [use.wall_ms for use in since if use.result in (WRONG_PIN, UNKNOWN_TECH)]
