"""A lost link, told in rungs: after 5 seconds, a minute, ten minutes and half an hour.

Each rung is an alarm that is worse than the one before, and the link's return is one more. It looks
at the connections once a second and knows nothing of what goes over them. After a restart it goes
on from the rung that the ledger tells, as far as the clock is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from kit.web.version_signal import VersionSignal
from manager.intake.units import Unit, Units
from manager.ledger.alarm_causes import LINK_BACK, LINK_RUNGS
from manager.ledger.book import Book
from manager.ledger.store.entries import EventSource
from manager.link.connection import Connection

LOOK_S = 1.0
AFTER_S = dict(zip(LINK_RUNGS, (5, 60, 10 * 60, 30 * 60), strict=True))
_NEWEST = (
    "SELECT table_id, code, commit_ms FROM alarms WHERE number IN"
    " (SELECT max(number) FROM alarms WHERE code IN ({}) GROUP BY table_id)"
)


@dataclass(slots=True)
class _Lost:
    since_s: float
    rung: int = 0  # how many of the ladder's alarms were given


class LinkLadder:
    """`now_s` runs evenly; `connection_of` finds the connection of a unit, if there is one."""

    def __init__(
        self,
        book: Book,
        units: Units,
        connection_of: Callable[[str], Connection | None],
        changes: VersionSignal,
        now_s: Callable[[], float],
    ) -> None:
        self._book = book
        self._units = units
        self._connection_of = connection_of
        self._changes = changes
        self._now_s = now_s
        self._last: dict[str, Connection] = {}  # of each table, the one that counted last
        self._lost = self._as_told()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            self.look()

    def look(self) -> None:
        """Gives every alarm that is due now."""
        for table_id in self._book.tables.ids():
            unit = self._units.of_table(table_id)
            if unit is None:
                continue  # nobody has ever called from there
            connection = self._connection_of(unit.unit_id)
            if connection is not None:
                self._last[table_id] = connection
                self._back(unit)
            else:
                self._climb(unit)

    def _climb(self, unit: Unit) -> None:
        lost = self._lost.get(unit.table_id)
        if lost is None:
            # A pulled cable is noticed late: the silence began with the last frame.
            last = self._last.get(unit.table_id)
            heard_s = last.heard_s if last is not None and last.heard_s else self._now_s()
            lost = self._lost[unit.table_id] = _Lost(heard_s)
        silent_s = self._now_s() - lost.since_s
        for code in LINK_RUNGS[lost.rung :]:
            if silent_s < AFTER_S[code]:
                break
            lost.rung += 1
            self._tell(
                unit,
                code,
                f"No link to {self._name(unit)} for {_words(AFTER_S[code])}: it starts no game."
                " Look at its power and its cable.",
            )

    def _back(self, unit: Unit) -> None:
        lost = self._lost.pop(unit.table_id, None)
        if lost is not None and lost.rung:
            silent_s = max(AFTER_S[LINK_RUNGS[0]], int(self._now_s() - lost.since_s))
            words = _words(silent_s)
            self._tell(unit, LINK_BACK, f"The link to {self._name(unit)} is back after {words}.")

    def _tell(self, unit: Unit, code: str, sentence: str) -> None:
        self._book.alarms.record(code, sentence, unit.table_id, EventSource(unit.unit_id))
        self._changes.bump()

    def _name(self, unit: Unit) -> str:
        name = self._book.tables.rules(unit.table_id).settings.name
        return f"{name} ({unit.unit_id})"

    def _as_told(self) -> dict[str, _Lost]:
        """The links that were lost when this manager, or the one before it, stopped."""
        store, now_s = self._book.store, self._now_s()
        codes = (*LINK_RUNGS, LINK_BACK)
        rows = store.rows(_NEWEST.format(", ".join("?" * len(codes))), codes)
        lost: dict[str, _Lost] = {}
        for table_id, code, told_ms in rows:
            if code != LINK_BACK:
                passed_s = max(0.0, (store.now_ms - told_ms) / 1000)
                rung = LINK_RUNGS.index(code) + 1
                lost[table_id] = _Lost(now_s - passed_s - AFTER_S[code], rung)
        return lost


def _words(seconds: int) -> str:
    minutes = seconds // 60
    if seconds < 60:
        return f"{seconds} seconds"
    return "a minute" if minutes == 1 else f"{minutes} minutes"
