"""Where alarms are sent, from `alerts.toml` in the manager's folder; without the file, nowhere.

The file holds passwords, so nobody but its owner may read it, and no refusal ever repeats one.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from kit.command_line import PORT_MAX
from kit.config import (
    Choice,
    Complaint,
    Name,
    Rows,
    Text,
    Unfit,
    Value,
    Values,
    Whole,
    load,
    read,
    refusal,
)
from manager.ledger.alarm_causes import Severity

FILE_NAME = "alerts.toml"
SECRET_MAX_BYTES = 256
PLAIN, STARTTLS, TLS = "plain", "starttls", "tls"
_SEVERITY = Choice({each.name.lower(): each for each in Severity})
_ADDRESS = Text(254)


class Secret(Value):
    """Text that no sentence repeats."""

    def take(self, value: object) -> str:
        if not isinstance(value, str) or not 8 <= len(value.encode()) <= SECRET_MAX_BYTES:
            raise Unfit(f"must be text of 8 to {SECRET_MAX_BYTES} bytes.")
        return value


class Url(Value):
    def take(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > 500 or not value.isascii():
            raise Unfit("must be an address such as https://pager.example/underfelt.")
        try:
            parts = urlsplit(value)
            is_fit = parts.scheme in ("http", "https") and bool(parts.hostname)
            is_fit = is_fit and (parts.port or 1) <= PORT_MAX and not parts.username
        except ValueError:
            is_fit = False
        if not is_fit or value != value.strip() or not value.isprintable():
            raise Unfit("must be an address such as https://pager.example/underfelt.")
        return value


@dataclass(frozen=True, slots=True)
class Webhook:
    """[[webhook]]: each message is a POST of JSON, signed with the secret."""

    name: Annotated[str, Name()]
    url: Annotated[str, Url()]
    secret: Annotated[str, Secret()]
    severity: Annotated[Severity, _SEVERITY] = Severity.WARNING


@dataclass(frozen=True, slots=True)
class Email:
    """[[email]]: each message is one mail to all of `to`."""

    name: Annotated[str, Name()]
    host: Annotated[str, Text(253)]
    sender: Annotated[str, _ADDRESS]
    to: Annotated[tuple[str, ...], Values(_ADDRESS)]
    port: Annotated[int, Whole(1, PORT_MAX)] = 587
    security: Annotated[str, Choice((STARTTLS, TLS, PLAIN))] = STARTTLS
    user: Annotated[str, Text()] = ""
    password: Annotated[str, Secret()] = ""
    severity: Annotated[Severity, _SEVERITY] = Severity.WARNING

    def check(self) -> Iterator[Complaint]:
        for place, address in enumerate((self.sender, *self.to)):
            if not address.isascii() or address.count("@") != 1 or " " in address:
                key = ("sender",) if place == 0 else ("to", place - 1)
                yield key, "must be a mail address such as cage@casino.example."
        if not self.to:
            yield ("to",), "must have at least one address."
        if bool(self.user) != bool(self.password):
            yield ("password",), "a user and a password come together."
        if self.password and self.security == PLAIN:
            yield ("security",), "a password is never sent in the plain: say starttls or tls."


Destination = Webhook | Email


@dataclass(frozen=True, slots=True)
class AlertsFile:
    webhook: Annotated[tuple[Webhook, ...], Rows(Webhook)] = ()
    email: Annotated[tuple[Email, ...], Rows(Email)] = ()

    @property
    def destinations(self) -> tuple[Destination, ...]:
        return (*self.webhook, *self.email)

    def check(self) -> Iterator[Complaint]:
        names = [each.name for each in self.destinations]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield (), f"Two destinations are called {name}."


def read_alerts(data: Path) -> tuple[Destination, ...]:
    """The destinations in the manager's folder; refuses a file that others can read."""
    path = data / FILE_NAME
    if not path.exists():
        return ()
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise refusal((), f"{path} holds passwords and can be read by others: chmod 600 it.")
    return read(load(path), AlertsFile).destinations
