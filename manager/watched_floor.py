"""What a manager shows of ledgers that others write: read from the database when it is asked.

It alone knows how a page is made without owning the books.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import asdict
from functools import partial
from typing import Any

from kit.web.version_signal import VersionSignal
from manager.games import Catalogue
from manager.intake.units import Units
from manager.ledger.book import Book
from manager.ledger.engines.places import SCHEMA, reader_at
from manager.ledger.engines.postgres_lease import KnownManager, LeaseLine, Standing, groups_in
from manager.ledger.engines.postgres_reader import open_reader
from manager.ledger.engines.relations import Row
from manager.ledger.errors import LedgerError
from manager.ledger.reports.gaming_day import GamingDay
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store
from manager.ledger.store.watching import WatchingEngine
from manager.web.lookups import ReportsView
from manager.web.view import ManagerView
from manager.web.wins.view import WinsView

_log = logging.getLogger(__name__)

View = dict[str, Any]
SHOWN_OF_A_GROUP = ("meters", "tables")


def _shown(place: str, now_ms: Callable[[], int], catalogue: Callable[[], Catalogue]) -> View:
    """A ledger that another manager writes, as its owner's pages show it now."""
    store = Store(WatchingEngine(partial(reader_at, place)), now_ms, place)
    try:
        book = Book(store)
        units = Units(store, book.tables, book.alarms)
        gaming_day = GamingDay()
        reports = ReportsView(book, now_ms, catalogue, (), gaming_day)
        wins = WinsView(book, gaming_day)
        return ManagerView(book, units, VersionSignal(), _nowhere, now_ms, reports, wins).view()
    finally:
        store.close()


class WholeFloor:
    """Every group of the property: who owns it, who stands by, its meters and tables."""

    def __init__(self, url: str, now_ms: Callable[[], int], catalogue: Callable[[], Catalogue]):
        self._url = url
        self._now_ms = now_ms
        self._catalogue = catalogue

    async def groups(self) -> list[View]:
        return await asyncio.to_thread(self._groups)

    async def move(self, group: str, name: str) -> str:
        return await asyncio.to_thread(ask_to_move, self._url, schema_of(group), name)

    def _groups(self) -> list[View]:
        return [self._group(schema) for schema in groups_in(self._url)]

    def _group(self, schema: str) -> View:
        group = schema.removeprefix(SCHEMA).removeprefix("_")
        standing = look_once(self._url, schema)
        place = f"{self._url}#{group}" if group else self._url
        shown = _shown(place, self._now_ms, self._catalogue)
        owner = standing.owner
        return {
            "name": group,
            "owner": asdict(owner) if owner else None,
            "wanted": standing.wanted,
            "epoch": standing.epoch,
            "last_number": standing.last_number,
            "managers": [asdict(each) for each in standing.managers],
        } | {name: shown[name] for name in SHOWN_OF_A_GROUP}


def look_once(url: str, schema: str) -> Standing:
    line = LeaseLine(url, schema)
    try:
        return line.look()
    finally:
        line.close()


def ask_to_move(url: str, schema: str, name: str) -> str:
    """Play goes on meanwhile: the units stay where they are until the other one has it."""
    line = LeaseLine(url, schema)
    try:
        owner = line.ask_to_move(name)
    finally:
        line.close()
    return f"{owner} was asked to hand over to {name}; it does so within two seconds."


def _nowhere(unit_id: str) -> None:
    return None


class OtherGroups:
    """The tables of the property's other groups, each in a ledger of its own."""

    def __init__(self, url: str, schema: str) -> None:
        self._url = url
        self._schema = schema

    def refuse(self, table_ids: Collection[str]) -> None:
        """A table in two ledgers would have its wagers now in one and now in the other."""
        for schema in self._schemas():
            twice = sorted(set(table_ids) & {row[0] for row in self._tables(schema)})
            if twice:
                raise LedgerError(
                    f"Table {twice[0]} is in the group {group_of(schema)} already; a table has one."
                )

    def owner_of(self, unit_id: str) -> KnownManager | None:
        """The manager that serves the unit's table, when that is in another group."""
        for schema in self._schemas():
            if any(unit_id in row for row in self._tables(schema)):
                return look_once(self._url, schema).server
        return None

    def _schemas(self) -> list[str]:
        return [schema for schema in groups_in(self._url) if schema != self._schema]

    def _tables(self, schema: str) -> list[Row]:
        ledger = Ledger(open_reader(self._url, schema))
        try:
            return ledger.rows("SELECT id, board_serial FROM tables")
        finally:
            ledger.close()


def schema_of(group: str) -> str:
    return f"{SCHEMA}_{group}" if group else SCHEMA


def group_of(schema: str) -> str:
    return schema.removeprefix(SCHEMA).removeprefix("_") or "without a name"
