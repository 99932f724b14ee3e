"""What machines may read, as plain values whose names and types are promised for version 1.

Pages have rows of their own, which follow the pages. These follow `document`, and a test holds
every answer against it. Amounts are integers: cents, or micro-cents in the ledger's entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from manager.ledger.alarm_causes import severity_of
from manager.ledger.alarms import Alarm
from manager.ledger.book import Book
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.engines.relations import ALARMS

View = dict[str, Any]
Rows = Callable[[], list[View]]

Names = tuple[str, ...]
METER: Names = (
    *("id", "label", "type", "shown_cents", "seed_cents", "reserve_cents", "player_cents"),
    *("house_cents", "limit_cents", "stopped"),
)
TABLE: Names = ("id", "name", "unit", "software", "link", "locked", "state", "round", "wagers")
LINE: Names = (
    *("order", "seat", "sensor", "hand", "label", "amount_cents", "source", "meter"),
    *("meter_before_cents", "meter_after_cents"),
)
ENVY: Names = ("seat", "sensor", "amount_cents")
WIN: Names = (
    *("number", "time_ms", "table", "round", "claim", "amount_cents", "total_cents", "frozen"),
    *("method", "authorised_by", "role", "reversed_by", "replaces", "replaced_by"),
)
CLAIM: Names = (
    *("table", "round", "claim", "time_ms", "amount_cents", "total_cents", "frozen", "by_key"),
)


class MachinesView:
    """`meters`, `tables`, `claims`, `causes`: the pages' rows; `win_row` makes one of a win."""

    def __init__(
        self, book: Book, meters: Rows, tables: Rows, claims: Rows, causes: Rows, win_row: Any
    ) -> None:
        self._book = book
        self._meters = meters
        self._tables = tables
        self._claims = claims
        self._causes = causes
        self._win_row = win_row
        self.alerts_waiting: Callable[[], Mapping[str, int]] = dict

    def meters(self) -> list[View]:
        return [_part(each, METER) for each in self._meters()]

    def tables(self) -> list[View]:
        return [_part(each, TABLE) for each in self._tables()]

    def claims(self) -> list[View]:
        return [_part(each, CLAIM) | _lines(each) for each in self._claims()]

    def win(self, number: int) -> View | None:
        win = self._book.wins.find(number)
        if win is None:
            return None
        row = self._win_row(win)
        stamps = [
            {"stamp": str(each["stamp"])} | _part(each, ("by", "time_ms", "note"))
            for each in row["stamps"]
        ]
        return _part(row, WIN) | _lines(row) | {"stamps": stamps}

    def wins(self, after: int, limit: int) -> list[View]:
        """Those after this number, oldest first."""
        last = min(self._book.wins.count(), after + limit)
        found = [self.win(number) for number in range(after + 1, last + 1)]
        return [win for win in found if win is not None]

    def alarms(self, after: int, limit: int) -> list[View]:
        last = min(self._book.alarms.newest_number, after + limit)
        rows = [self._book.store.get(ALARMS, number) for number in range(after + 1, last + 1)]
        return [_alarm(Alarm(*row)) for row in rows if row is not None]

    def entries(self, after: int, limit: int) -> list[View]:
        """Entries of the ledger that are durable, with their postings."""
        last = min(self._book.store.commits.durable_tail.number, after + limit)
        if last <= after:
            return []
        return [
            {
                "number": each.number,
                "time_ms": each.commit_ms,
                "kind": each.kind,
                "table": each.reference.table_id,
                "round": each.reference.round_number,
                "sensor": each.reference.sensor,
                "claim": each.reference.claim_number,
                "sentence": each.sentence,
                "postings": [
                    {"account": account, "amount_microcents": amount}
                    for account, amount in each.postings
                ],
                "digest": digest.hex(),
            }
            for each, digest in self._book.store.recorded(after + 1, last)
        ]

    def is_well(self) -> bool:
        """True while the ledger can be written."""
        try:
            self._book.store.commits.check()
        except StorageFailed:
            return False
        return True

    def figures(self) -> View:
        """What a monitor draws and wakes people for."""
        open_ones = [each for each in self._causes() if each["is_open"]]
        return {
            "is_well": self.is_well(),
            "meters": self.meters(),
            "tables": self.tables(),
            "claims_waiting": len(self._claims()),
            "wins": self._book.wins.count(),
            "alarms": self._book.alarms.newest_number,
            "alarms_open": [each["severity"] for each in open_ones],
            "entries": self._book.store.commits.durable_tail.number,
            "alerts_waiting": dict(self.alerts_waiting()),
        }


def _part(row: View, names: tuple[str, ...]) -> View:
    return {name: row[name] for name in names}


def _lines(row: View) -> View:
    return {
        "lines": [_part(line, LINE) for line in row["lines"]],
        "envy": [_part(line, ENVY) for line in row["envy"]],
    }


def _alarm(alarm: Alarm) -> View:
    return {
        "number": alarm.number,
        "time_ms": alarm.commit_ms,
        "severity": severity_of(alarm.code).name.lower(),
        "code": alarm.code,
        "table": alarm.table_id,
        "unit": alarm.unit_id,
        "sentence": alarm.sentence,
    }
