"""The tables this manager serves: their settings as sent to the unit, and the unit that may speak.

A table's settings do not change while it is open (parameter changes are a procedure of their own;
people and policy are read anew when a table is opened again). Whether play is stopped, and the
jackpots' limits, follow from how the jackpots stand and are part of the settings the unit gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from manager.ledger.engines.relations import JACKPOTS, TABLE_AUTHORITY, TABLE_GAMES, TABLES, Row
from manager.ledger.errors import LedgerError
from manager.ledger.jackpots import Jackpots
from manager.ledger.rules import TableRules
from manager.ledger.store.store import Store
from manager.ledger.table_authority import NOBODY, TableAuthority
from protocol.wire.settings import TableSettings, with_limits


class Tables:
    def __init__(self, store: Store, jackpots: Jackpots) -> None:
        self._store = store
        self._jackpots = jackpots
        self._rules: dict[str, TableRules] = {}
        self._serials: dict[str, str] = {}  # the table of each board, as last looked through
        self._in_force: dict[str, set[bytes]] = {}  # digests of its settings since this start
        self._standing_rows: dict[str, list[Row | None]] = {}  # that the rules were made from

    def add(
        self,
        settings: TableSettings,
        board_serial: str,
        games: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """A new table; `games` names the game played on each sensor's letter."""
        if self.settings_of(settings.table_id) is not None:
            raise LedgerError(f"Table {settings.table_id} is known already.")
        with self._store.transaction():
            self._store.put(TABLES, (settings.table_id, board_serial, settings.encode()))
            for letter, game in games.items():
                self._store.put(TABLE_GAMES, (settings.table_id, letter, game))

    def replace(self, settings: TableSettings) -> None:
        """Other cards, techs or policy for a known table; the unit gets them at its next hello."""
        self._store.update(TABLES, (settings.table_id,), settings=settings.encode())
        self._rules.pop(settings.table_id, None)

    def keep_authority(self, table_id: str, authority: TableAuthority) -> None:
        """Whose authority counts at a table, from now on."""
        self._store.put(TABLE_AUTHORITY, (table_id, authority.encode()))
        self._rules.pop(table_id, None)

    def authority_of(self, table_id: str) -> TableAuthority:
        row = self._store.get(TABLE_AUTHORITY, table_id)
        return TableAuthority.decode(row[1]) if row else NOBODY

    def ids(self) -> list[str]:
        return [row[0] for row in self._store.find(TABLES, {})]

    def settings_of(self, table_id: str) -> TableSettings | None:
        row = self._store.get(TABLES, table_id)
        return TableSettings.decode(row[2]) if row else None

    def games_of(self, table_id: str) -> dict[str, str]:
        """The game on each sensor's letter; by its paytable where no other name was given."""
        found: dict[str, str] = {}
        for game in self._settings(table_id).games:
            named = self._store.get(TABLE_GAMES, table_id, game.letter)
            found[game.letter] = named[2] if named else game.paytable.split("/")[0]
        return found

    def board_serial_of(self, table_id: str) -> str:
        row = self._store.get(TABLES, table_id)
        return row[1] if row else ""

    def rules(self, table_id: str) -> TableRules:
        """The rules of a known table, with its jackpots' terms as they are in force now."""
        kept = self._rules.get(table_id)
        if kept is not None:
            standing = self._store.held_rows(JACKPOTS, kept.meter_keys)
            if standing == self._standing_rows[table_id]:
                return kept
        settings = self._settings(table_id)
        meters = dict.fromkeys(meter.id for game in settings.games for meter in game.meters)
        standings = {meter_id: self._jackpots.standing(meter_id) for meter_id in meters}
        terms = {meter_id: standing.terms for meter_id, standing in standings.items()}
        stopped = [each.stopped for each in standings.values() if each.stopped]
        stop_sentence = stopped[0] if stopped else ""
        self._standing_rows[table_id] = self._standing(meters)
        if kept and (kept.jackpots, kept.settings.stop_sentence) == (terms, stop_sentence):
            return kept
        limits_cents = {meter_id: each.limit_cents for meter_id, each in terms.items()}
        games = with_limits(settings.games, limits_cents)
        current = replace(settings, games=games, stop_sentence=stop_sentence)
        authority = kept.authority if kept else self.authority_of(table_id)
        rules = self._rules[table_id] = TableRules(current, terms, authority)
        self._in_force.setdefault(table_id, set()).add(rules.settings_digest)
        return rules

    def was_in_force(self, table_id: str, digest: bytes) -> bool:
        """Whether these were the table's settings at any time since this manager started."""
        return digest in self._in_force.get(table_id, ())

    def _standing(self, meter_ids: Iterable[str]) -> list[Row | None]:
        return [self._store.get(JACKPOTS, meter_id) for meter_id in meter_ids]

    def _settings(self, table_id: str) -> TableSettings:
        """As they were set up; whether play is stopped now is told by the jackpots."""
        kept = self._rules.get(table_id)
        settings = kept.settings if kept else self.settings_of(table_id)
        if settings is None:
            raise LedgerError(f"There is no table {table_id}.")
        return settings

    def table_of_unit(self, unit_id: str) -> str | None:
        """The table a unit belongs to: a unit goes by its board's serial or by its table's id."""
        if self._store.get(TABLES, unit_id):
            return unit_id
        if not unit_id:
            return None
        known = self._serials.get(unit_id)
        if known is None or self.board_serial_of(known) != unit_id:
            # Looks through all tables at once: a floor that comes back would do so for each unit.
            self._serials = {row[1]: row[0] for row in reversed(self._store.find(TABLES, {}))}
            known = self._serials.get(unit_id)
        return known
