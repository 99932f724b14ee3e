"""What pages may see of the manager: meters, tables, wins and alarms, as plain values.

Reads only; every figure comes from the ledger at the moment of asking, nothing is cached here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.web.version_signal import VersionSignal
from manager.explain.for_pages import Explanations
from manager.intake.units import Units
from manager.ledger.alarm_causes import AlarmCauses, Cause, Severity
from manager.ledger.alarms import Alarm
from manager.ledger.book import Book
from manager.ledger.corrections.voiding import order_standing
from manager.ledger.engines.relations import ALARMS
from manager.ledger.stamps import Stamp, put_stamp
from manager.link.connection import Connection
from manager.web.archive.wins import WinsArchive
from manager.web.bundles.view import BundlesView
from manager.web.floor.meters import MetersView
from manager.web.floor.tables import TablesView
from manager.web.health.view import SpotHealthView
from manager.web.lookups import ReportsView
from manager.web.machines.view import MachinesView
from manager.web.people.table_people import TablePeopleView
from manager.web.wins.view import WinsView

WINS_SHOWN_MAX = 10
ALARMS_SHOWN_MAX = 50
CAUSES_SHOWN_MAX = 12
NOTICE = Severity.NOTICE.name.lower()  # what somebody did as they may: it alarms nobody
_LIKE = " OR ".join(
    f"lower({column}) LIKE lower(?) ESCAPE '!'"
    for column in ("code", "table_id", "unit_id", "sentence")
)
# Strangers who knock are no table's trouble, and anybody can make them many: one row for each code.
_STRANGERS = "(table_id = '' AND code IN ('ENROLMENT_REFUSED', 'UNKNOWN_UNIT'))"
_SAME = "code, table_id, unit_id, sentence, commit_ms / 86400000"  # fifty faults of a bus: one row
_ROWS = "SELECT max(number) AS newest, count(*) AS many FROM alarms WHERE"
_HISTORY = f"{_ROWS} NOT {_STRANGERS} AND ({_LIKE}) GROUP BY {_SAME} ORDER BY newest DESC LIMIT 200"
_FOLDED = f"{_ROWS} {_STRANGERS} AND ({_LIKE}) GROUP BY code"


class ManagerView:
    def __init__(
        self,
        book: Book,
        units: Units,
        changes: VersionSignal,
        connection_of: Callable[[str], Connection | None],
        now_ms: Callable[[], int],
        reports: ReportsView,
        wins: WinsView,
    ) -> None:
        self.reports = reports
        self._wins = wins
        self._causes = AlarmCauses(book.store, book.alarms)
        self._explainer = Explanations(book.store)
        self._book = book
        self._changes = changes
        self._now_ms = now_ms
        self.tables = TablesView(book, units, connection_of, now_ms, wins)
        self.spots = SpotHealthView(lambda: self.tables.rows([]), connection_of)
        self.bundles: BundlesView | None = None  # of a manager that units call at
        self.archive = WinsArchive(book, wins)
        self.table_people = TablePeopleView(book)
        self.meters = MetersView(book, wins.gaming_day, now_ms, wins)
        self.machines = MachinesView(
            book,
            self.meters.rows,
            lambda: self.tables.rows([]),
            wins.waiting,
            self.causes,
            wins.row,
        )

    @property
    def version(self) -> int:
        return self._changes.version

    async def changed(self, after: int) -> int:
        """Returns the version as soon as it is greater than `after`."""
        return await self._changes.changed(after)

    def view(self) -> dict[str, Any]:
        causes = self.causes()
        return {
            "meters": self.meters.rows(),
            "tables": self.tables.rows(causes),
            "claims": self._wins.waiting(),
            "wins": [self._wins.row(win) for win in self._book.wins.newest(WINS_SHOWN_MAX)],
            "alarms": [_alarm(alarm) for alarm in self._book.alarms.newest(ALARMS_SHOWN_MAX)],
            "causes": [each for each in causes if each["severity"] != NOTICE][:CAUSES_SHOWN_MAX],
            "notices": sum(each["is_open"] and each["severity"] == NOTICE for each in causes),
            "time_ms": self._now_ms(),
        }

    def causes(self) -> list[dict[str, Any]]:
        """Every alarm's cause, the worst that nobody has looked into first."""
        return [_cause(cause) for cause in self._causes.all()]

    def acknowledge(self, key: tuple[str, str, str], number: int, by: str, note: str) -> None:
        self._causes.acknowledge(key, number, by, note)
        self._changes.bump()

    def alarm_history(self, wanted: str) -> list[dict[str, Any]]:
        """The newest alarms that have these words in code, table, unit or sentence.

        What was said again on the same day is one row with a count, at its last time.
        """
        store, like = self._book.store, [f"%{_escaped(wanted)}%"] * 4
        counts = dict([*store.rows(_HISTORY, like), *store.rows(_FOLDED, like)])
        rows = [store.get(ALARMS, number) for number in sorted(counts, reverse=True)]
        found = [Alarm(*row) for row in rows if row is not None]
        return [_alarm(each) | {"count": counts[each.number]} for each in found]

    def claims(self) -> list[dict[str, Any]]:
        """Every win that waits, in the order in which they are paid."""
        return self._wins.waiting()

    def table(self, table_id: str) -> dict[str, Any] | None:
        """All there is to know of one table."""
        return self.tables.page(table_id, self.causes())

    def void_standing(self, table_id: str, round_number: int) -> str:
        """What has become of the order to void a game."""
        return order_standing(self._book, table_id, round_number)

    def win(self, number: int) -> dict[str, Any] | None:
        """A win as its slips print it."""
        return self._wins.page(number)

    def claim(self, table_id: str, number: int) -> dict[str, Any] | None:
        """A win that is logged and not paid yet, as its slips print it."""
        return self._wins.claim_page(table_id, number)

    def stamp(self, number: int, stamp: Stamp, by: str, note: str) -> None:
        """Writes on a win's slip what was done with the money."""
        put_stamp(self._book.store, number, stamp, by, note)
        self._changes.bump()

    async def explain(self, number: int, page: int = 0) -> dict[str, Any] | None:
        """How a win's amount follows from the ledger; a page of its single lines when asked."""
        return await self._explainer.explain(number, page)


def _alarm(alarm: Alarm) -> dict[str, Any]:
    return {
        "number": alarm.number,
        "time_ms": alarm.commit_ms,
        "table": alarm.table_id,
        "unit": alarm.unit_id,
        "code": alarm.code,
        "text": alarm.sentence,
    }


def _cause(cause: Cause) -> dict[str, Any]:
    code, table_id, unit_id = cause.key
    return {
        "code": code,
        "table": table_id,
        "unit": unit_id,
        "severity": cause.severity.name.lower(),
        "count": cause.count,
        "total": cause.total,
        "first_ms": cause.first_ms,
        "time_ms": cause.last.commit_ms,
        "number": cause.last.number,
        "text": cause.last.sentence,
        "is_open": cause.is_open,
        "acked_by": cause.acked_by,
        "acked_ms": cause.acked_ms,
    }


def _escaped(text: str) -> str:
    """What somebody searches for, with no sign that means anything to the search."""
    return "".join(f"!{each}" if each in "%_!" else each for each in text)
