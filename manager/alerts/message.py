"""What a message about alarms says: a line for each, the worst first, in JSON and in plain text.

Sentences of alarms may quote what a stranger sent. They are one line of printable text here,
whatever they were, and nothing of them gets into a mail's headers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime

from manager.alerts.settings import Email
from manager.ledger.alarm_causes import severity_of
from manager.ledger.alarms import Alarm

VERSION = 1


@dataclass(frozen=True, slots=True)
class Message:
    """Some alarms for one destination; `skipped` older ones are only counted."""

    place: str  # the property's name, or ""
    alarms: tuple[Alarm, ...]
    skipped: int = 0

    @property
    def key(self) -> str:
        """The same for each try to send the same, so that who gets it twice can tell."""
        return f"{self.alarms[0].number}-{self.alarms[-1].number}"

    def subject(self) -> str:
        worst = _worst_first(self.alarms)[0]
        more = len(self.alarms) + self.skipped - 1
        rest = f" and {more} more" if more else ""
        where = worst.table_id or "manager"
        severity = severity_of(worst.code).name.lower()
        place = f"{_line(self.place)}: " if self.place else ""
        return f"{place}{severity}: {_line(worst.code)} at {_line(where)}{rest}"

    def text(self) -> str:
        lines = [
            f"{severity_of(each.code).name}  {_moment(each.commit_ms)}  {each.code}"
            f"  {each.table_id or 'manager'} {each.unit_id}".rstrip()
            + f"\n    {_line(each.sentence)}"
            for each in _worst_first(self.alarms)
        ]
        if self.skipped:
            lines.append(f"{self.skipped} older alarms were not sent: see the alarms' page.")
        return "\n".join(lines) + "\n"

    def as_json(self) -> bytes:
        alarms = [
            {
                "number": each.number,
                "time_ms": each.commit_ms,
                "severity": severity_of(each.code).name.lower(),
                "code": each.code,
                "table": each.table_id,
                "unit": each.unit_id,
                "sentence": each.sentence,
            }
            for each in self.alarms
        ]
        document = {
            "version": VERSION,
            "property": self.place,
            "alarms": alarms,
            "skipped": self.skipped,
        }
        return json.dumps(document, ensure_ascii=False).encode()

    def as_mail(self, settings: Email, now_ms: int) -> EmailMessage:
        mail = EmailMessage()
        mail["Subject"] = self.subject()
        mail["From"] = settings.sender
        mail["To"] = ", ".join(settings.to)
        mail["Date"] = format_datetime(datetime.fromtimestamp(now_ms / 1000, UTC))
        domain = settings.sender.partition("@")[2]
        mail["Message-ID"] = f"<underfelt-{self.key}-{self.alarms[-1].commit_ms}@{domain}>"
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(self.text())
        return mail


def _worst_first(alarms: Sequence[Alarm]) -> list[Alarm]:
    return sorted(alarms, key=lambda each: (-severity_of(each.code), each.number))


def _line(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)


def _moment(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%SZ}"
