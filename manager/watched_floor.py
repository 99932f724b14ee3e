"""What a manager shows of ledgers that others write: read from the database when it is asked.

It alone knows how a page is made without owning the books.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, TypeVar

from kit.spelling import id_of
from manager.ledger.engines.places import SCHEMA
from manager.ledger.engines.postgres_lease import (
    KnownManager,
    LeaseLine,
    Standing,
    groups_in,
    groups_on,
    line_for_groups,
)
from manager.ledger.engines.postgres_reader import open_reader
from manager.ledger.engines.relations import Row
from manager.ledger.errors import LedgerError, StoreError
from manager.ledger.store.ledger import Ledger
from manager.people.people import Person, person_in
from manager.people.tokens import is_token
from manager.watched_group import WatchedGroup

View = dict[str, Any]
_Found = TypeVar("_Found")

LOOK_MAX_S = 8.0  # three hosts that are gone take 2 s each
IDLE_S = 10.0  # for so long nobody looked: the lines are closed
KNOWN_MAX_S = 3.0  # a live page reads the accounts each second


class WholeFloor:
    """Every group of the property: who owns it, who stands by, its meters and tables.

    Read on a thread of its own, one look after the other: a database that does not answer keeps
    only those waiting who look at it, and never the thread that says this manager is there. The
    lines to the database are closed when nobody has looked for a while.
    """

    def __init__(self, url: str, now_ms: Callable[[], int]) -> None:
        self._url = url
        self._now_ms = now_ms
        self._line = line_for_groups(url)
        self._watched: dict[str, WatchedGroup] = {}
        self._thread = ThreadPoolExecutor(1, "whole floor")
        self._idle: asyncio.TimerHandle | None = None

    async def groups(self) -> list[View]:
        return await self._beside(self._groups)

    async def owners(self) -> list[View]:
        """The same without a word about money or tables."""
        return await self._beside(self._owners)

    async def people(self, schema: str) -> list[Row]:
        """The rows of this group's accounts."""
        return await self._beside(lambda: self._group(schema).people())

    async def move(self, group: str, name: str) -> str:
        return await self._beside(lambda: ask_to_move(self._url, schema_of(group), name))

    async def _beside(self, work: Callable[[], _Found]) -> _Found:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LOOK_MAX_S):
                return await loop.run_in_executor(self._thread, work)
        except TimeoutError as error:
            raise StoreError("The ledger's database does not answer.") from error
        finally:
            if self._idle is not None:
                self._idle.cancel()
            self._idle = loop.call_later(IDLE_S, self._thread.submit, self._close_lines)

    def close(self) -> None:
        """For good, when the loop ends."""
        if self._idle is not None:
            self._idle.cancel()
        self._thread.submit(self._close_lines)
        self._thread.shutdown()

    # -- on the thread -----------------------------------------------------------------------

    def _groups(self) -> list[View]:
        return [self._seen(schema) for schema in groups_on(self._line)]

    def _owners(self) -> list[View]:
        return [_owned(each, self._group(each).standing()) for each in groups_on(self._line)]

    def _seen(self, schema: str) -> View:
        standing, shown = self._group(schema).look()
        tables = [each | {"last_event_age_ms": self._age_ms(each)} for each in shown.tables]
        counted = {"epoch": standing.epoch, "last_number": standing.last_number}
        return _owned(schema, standing) | counted | {"meters": shown.meters, "tables": tables}

    def _age_ms(self, table: View) -> int | None:
        last_ms = table["last_event_ms"]
        return max(0, self._now_ms() - last_ms) if last_ms else None

    def _group(self, schema: str) -> WatchedGroup:
        if schema not in self._watched:
            self._watched[schema] = WatchedGroup(self._url, schema)
        return self._watched[schema]

    def _close_lines(self) -> None:
        """The next look opens them again."""
        self._line.close()
        for each in self._watched.values():
            each.close()


def _owned(schema: str, standing: Standing) -> View:
    return {
        "name": schema.removeprefix(SCHEMA).removeprefix("_"),
        "owner": asdict(standing.owner) if standing.owner else None,
        "wanted": standing.wanted,
        "managers": [asdict(each) for each in standing.managers],
    }


class WatchedAccounts:
    """The accounts of one group, for a manager that does not own its ledger.

    They count for a few seconds after they were read. Then nobody is known: an account may have
    been closed meanwhile.
    """

    def __init__(self, floor: WholeFloor, schema: str, now_s: Callable[[], float]) -> None:
        self._floor = floor
        self._schema = schema
        self._now_s = now_s
        self._read_s = -KNOWN_MAX_S
        self._people: dict[str, Person] = {}

    async def look(self) -> None:
        """Reads them anew; raises LedgerError when the database does not answer."""
        began_s = self._now_s()
        rows = await self._floor.people(self._schema)
        people = (person_in(row) for row in rows if not is_token(row))
        self._people = {person.id: person for person in people}
        self._read_s = began_s

    def find(self, name: str) -> Person | None:
        if self._now_s() - self._read_s >= KNOWN_MAX_S:
            return None
        return self._people.get(id_of(name))


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
