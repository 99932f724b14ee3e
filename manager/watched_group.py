"""One group's ledger as others see it: its lease, meters, tables and accounts, from the database.

Whoever looks reads only what a page shows, and reads it anew only when something was booked since.
So a page may look each second, at a ledger of any length. Never used by two threads at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import psycopg

from manager.ledger.engines import postgres_schema
from manager.ledger.engines.postgres_lease import LeaseLine, Standing
from manager.ledger.engines.relations import JACKPOTS, PEOPLE, Row
from manager.ledger.errors import StoreError
from manager.ledger.jackpots import standing_in, state_of
from manager.ledger.store import accounts
from protocol.wire.settings import TableSettings

View = dict[str, Any]

_ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_JACKPOTS = f"SELECT {', '.join(JACKPOTS.columns)} FROM jackpots ORDER BY id"
_AMOUNTS = (
    "SELECT account, amount_microcents FROM balances"
    " WHERE account LIKE 'meter/%' OR account LIKE 'reserve/%'"
)
# The newest round by its key: a floor that has played for years has millions of them.
_TABLES = (
    "SELECT t.id, t.board_serial, md5(t.settings), coalesce(r.number, 0) FROM tables t"
    " LEFT JOIN LATERAL (SELECT number FROM rounds WHERE table_id = t.id"
    " ORDER BY number DESC LIMIT 1) r ON true ORDER BY t.id"
)
_UNITS = "SELECT unit_id, table_id, last_event_ms FROM units"
_SETTINGS = "SELECT id, settings FROM tables WHERE id = ANY(%s)"
_PEOPLE = f"SELECT {', '.join(PEOPLE.columns)} FROM people"


class _Named(NamedTuple):
    """What a table's settings say that a list of tables shows."""

    digest: str
    name: str
    meter_ids: tuple[str, ...]


class Shown(NamedTuple):
    meters: list[View]
    tables: list[View]


class WatchedGroup:
    def __init__(self, url: str, schema: str) -> None:
        self._schema = schema
        self._lease = LeaseLine(url, schema)
        self._named: dict[str, _Named] = {}
        self._shown_at = (-1, -1)
        self._shown = Shown([], [])
        self._people_at = (-1, -1)
        self._people: list[Row] = []

    def standing(self) -> Standing:
        return self._lease.look()

    def look(self) -> tuple[Standing, Shown]:
        # The lease first: what is read after it is at least as new as the number it names.
        standing = self._lease.look()
        if self._shown_at != _moment(standing):
            self._shown = self._read_shown()
            self._shown_at = _moment(standing)
        return standing, self._shown

    def people(self) -> list[Row]:
        """Every row of the accounts, as the owner has written them."""
        moment = _moment(self._lease.look())
        if self._people_at != moment:
            with self._lease.line.ready() as line:
                self._check(line)
                self._people = line.execute(_PEOPLE).fetchall()
            self._people_at = moment
        return self._people

    def close(self) -> None:
        self._lease.close()

    # -- inside ------------------------------------------------------------------------------

    def _read_shown(self) -> Shown:
        with self._lease.line.ready() as line, line.transaction():
            line.execute(_ONE_MOMENT)
            self._check(line)
            jackpots = line.execute(_JACKPOTS).fetchall()
            amounts: dict[str, int] = dict(line.execute(_AMOUNTS).fetchall())
            tables = line.execute(_TABLES).fetchall()
            units = line.execute(_UNITS).fetchall()
            self._learn_names(line, tables)
        return Shown(self._meters(jackpots, amounts, tables), self._tables(tables, units))

    def _check(self, line: psycopg.Connection) -> None:
        """A ledger of other software is not guessed at."""
        try:
            postgres_schema.check(line, self._schema)
        except postgres_schema.NoLedger as refused:
            raise StoreError(str(refused)) from refused

    def _learn_names(self, line: psycopg.Connection, tables: list[Row]) -> None:
        """Settings are large and seldom change: only new ones are fetched."""
        digests = {row[0]: row[2] for row in tables}
        known = {name: each.digest for name, each in self._named.items()}
        new = [name for name, digest in digests.items() if known.get(name) != digest]
        for name, encoded in line.execute(_SETTINGS, (new,)).fetchall() if new else ():
            settings = TableSettings.decode(bytes(encoded))
            meter_ids = tuple(meter.id for game in settings.games for meter in game.meters)
            self._named[name] = _Named(digests[name], settings.name, meter_ids)

    def _meters(
        self, jackpots: list[Row], amounts: dict[str, int], tables: list[Row]
    ) -> list[View]:
        """As the paytables rank them, the highest level of each game first."""
        ranked = (meter_id for row in tables for meter_id in self._named[row[0]].meter_ids)
        places = {meter_id: place for place, meter_id in enumerate(dict.fromkeys(ranked))}
        found = [_meter(row, amounts) for row in jackpots]
        return sorted(found, key=lambda each: (places.get(each["id"], len(places)), each["id"]))

    def _tables(self, tables: list[Row], units: Iterable[Row]) -> list[View]:
        by_name = {row[0]: row for row in units}
        return [self._table(row, by_name) for row in tables]

    def _table(self, row: Row, units: dict[str, Row]) -> View:
        table_id, board_serial, _, round_number = row
        # A unit goes by its board's serial or by its table's id, as `Units.of_table` has it.
        known = (units.get(name) for name in (board_serial, table_id))
        unit = next((each for each in known if each is not None and each[1] == table_id), None)
        return {
            "id": table_id,
            "name": self._named[table_id].name,
            "unit": unit[0] if unit else "",
            "round": round_number,
            "last_event_ms": unit[2] if unit else 0,
        }


def _moment(standing: Standing) -> tuple[int, int]:
    """It is another one as soon as anything was booked."""
    return standing.epoch, standing.last_number


def _meter(row: Row, amounts: dict[str, int]) -> View:
    standing = standing_in(row)
    terms = standing.terms
    parts = [amounts.get(account, 0) for account in accounts.parts(terms.id)]
    shown_cents = state_of(standing, parts).shown_cents
    return {
        "id": terms.id,
        "label": terms.label,
        "shown_cents": shown_cents,
        "stopped": standing.stopped,
    }
