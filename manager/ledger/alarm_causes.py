"""Alarms by their cause: how bad, how often, since when, and who has looked into them.

Fifty faults of one bus are one cause with a count of fifty. An alarm that no table stands for, such
as a stranger's knocking, is one cause by its code, whoever knocked. What was acknowledged is open
again when it happens once more.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from manager.ledger.alarms import Alarm, Alarms
from manager.ledger.engines.relations import ALARM_ACKS
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import Entry, Kind, Reference
from manager.ledger.store.store import Store

NOTE_MAX = 200


class Severity(enum.IntEnum):
    NOTICE = 1  # somebody did what they may
    WARNING = 2  # somebody should look into it today
    URGENT = 3  # a table stands still: somebody should go there
    CRITICAL = 4  # money or proof is in doubt, or a table was given up: now


# A lost link rung by rung, each worse than the one before; all of them are one cause.
LINK_RUNGS = ("LINK_LOST", "LINK_LOST_60_S", "LINK_LOST_10_MIN", "LINK_LOST_30_MIN")
LINK_BACK = "LINK_BACK"
_LINK = dict(zip(LINK_RUNGS, Severity, strict=True)) | {LINK_BACK: Severity.NOTICE}
_CRITICAL = frozenset({"AUDIT", "DIVERGED", "FORK", "SEAL"})
_NOTICES = frozenset(
    {
        *("ENROLLED", "ENROLMENT", "NEW_JOURNAL_PERMITTED", "PEOPLE", "RELEASED", "RESUMED"),
        *("REVOKED", "SETTINGS", "IDENTITY", "SERVICE", "PROGRAM", "ROLLOUT"),
    }
)


def severity_of(code: str) -> Severity:
    """A code that nobody has ranked is worth a look."""
    if code in _LINK:
        return _LINK[code]
    if code in _CRITICAL:
        return Severity.CRITICAL
    return Severity.NOTICE if code in _NOTICES else Severity.WARNING


Key = tuple[str, str, str]  # code, table, unit


@dataclass(slots=True)
class Cause:
    key: Key
    count: int = 0  # since it was last acknowledged
    total: int = 0
    first_ms: int = 0  # of those that nobody has acknowledged
    last: Alarm = field(default=Alarm(0, 0, "", "", 0, "", ""))
    acked_by: str = ""
    acked_ms: int = 0
    acked_number: int = 0

    @property
    def severity(self) -> Severity:
        """Of what happened last: a lost link grows worse, and better when it is back."""
        return severity_of(self.last.code or self.key[0])

    @property
    def is_open(self) -> bool:
        return self.last.number > self.acked_number


class AlarmCauses:
    """Reads each alarm once, when it is asked for the first time after it."""

    def __init__(self, store: Store, alarms: Alarms) -> None:
        self._store = store
        self._alarms = alarms
        self._causes: dict[Key, Cause] = {}
        self._read_number = 0
        for row in store.find(ALARM_ACKS, {}):
            self._acknowledged(*row[1:7])

    def all(self) -> list[Cause]:
        """What is open before what is not, the worst first, then the newest."""
        for alarm in self._alarms.since(self._read_number):
            self._take(alarm)
        return sorted(
            self._causes.values(),
            key=lambda cause: (cause.is_open, cause.severity, cause.last.number),
            reverse=True,
        )

    def acknowledge(self, key: Key, number: int, by: str, note: str = "") -> None:
        """Somebody has looked into the alarms of a cause, up to one that they have seen."""
        self.all()
        cause = self._causes.get(key)
        if cause is None or not cause.acked_number < number <= cause.last.number:
            raise LedgerError("That alarm is acknowledged already, or there is none like it.")
        if len(note) > NOTE_MAX:
            raise LedgerError(f"A note has at most {NOTE_MAX} letters.")
        with self._store.transaction():
            newest = self._store.newest(ALARM_ACKS)
            row_number, now_ms = int(newest[0]) + 1 if newest else 1, self._store.now_ms
            self._store.put(ALARM_ACKS, (row_number, *key, number, by, now_ms, note))
            detail = {"who": by, "act": "acknowledge", "alarm": str(number), "note": note}
            sentence = f"{by} acknowledged {key[0]} up to alarm {number}."
            self._store.append(Entry(Kind.ACT, Reference(key[1]), sentence, (), detail=detail))
        self._acknowledged(*key, number, by, now_ms)

    def _take(self, alarm: Alarm) -> None:
        unit_id = alarm.unit_id if alarm.table_id else ""
        code = LINK_RUNGS[0] if alarm.code in _LINK else alarm.code
        key = (code, alarm.table_id, unit_id)
        cause = self._causes.setdefault(key, Cause(key))
        cause.total += 1
        cause.last = alarm
        if alarm.number > cause.acked_number:
            cause.first_ms = cause.first_ms if cause.count else alarm.commit_ms
            cause.count += 1
        self._read_number = alarm.number

    def _acknowledged(
        self, code: str, table_id: str, unit_id: str, number: int, by: str, acked_ms: int
    ) -> None:
        key = (code, table_id, unit_id)
        cause = self._causes.setdefault(key, Cause(key))
        cause.acked_number, cause.acked_by, cause.acked_ms = number, by, acked_ms
        newer = cause.last.number - number
        # Alarms of one cause are not numbered in a row: what came since is counted when it comes.
        cause.count = 0 if newer <= 0 else 1
        cause.first_ms = cause.last.commit_ms
