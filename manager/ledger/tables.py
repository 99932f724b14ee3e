"""The tables this manager serves: their settings as sent to the unit, and the unit that may speak.

A table's settings do not change while it is open (parameter changes are a procedure of their own;
people and policy are read anew when a table is opened again). Whether play is stopped follows from
how its jackpots stand, and is part of the settings that the unit gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from manager.ledger.errors import LedgerError
from manager.ledger.jackpots import Jackpots
from manager.ledger.rules import TableRules
from manager.ledger.store import Store
from protocol.settings import TableSettings


class Tables:
    def __init__(self, store: Store, jackpots: Jackpots) -> None:
        self._store = store
        self._jackpots = jackpots
        self._rules: dict[str, TableRules] = {}

    def add(
        self,
        settings: TableSettings,
        board_serial: str,
        games: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """A new table; `games` names the game played on each sensor's letter."""
        if self.settings_of(settings.table_id) is not None:
            raise LedgerError(f"Table {settings.table_id} is known already.")
        self._store.execute(
            "INSERT INTO tables VALUES (?, ?, ?)",
            (settings.table_id, board_serial, settings.encode()),
        )
        for letter, game in games.items():
            self._store.execute(
                "INSERT INTO table_games VALUES (?, ?, ?)", (settings.table_id, letter, game)
            )

    def replace(self, settings: TableSettings) -> None:
        """Other cards, techs or policy for a known table; the unit gets them at its next hello."""
        self._store.execute(
            "UPDATE tables SET settings = ? WHERE id = ?", (settings.encode(), settings.table_id)
        )
        self._rules.pop(settings.table_id, None)

    def ids(self) -> list[str]:
        return [row[0] for row in self._store.rows("SELECT id FROM tables ORDER BY id")]

    def settings_of(self, table_id: str) -> TableSettings | None:
        row = self._store.row("SELECT settings FROM tables WHERE id = ?", (table_id,))
        return TableSettings.decode(row[0]) if row else None

    def games_of(self, table_id: str) -> dict[str, str]:
        """The game on each sensor's letter; by its paytable where no other name was given."""
        games = self._settings(table_id).games
        named = dict(
            self._store.rows("SELECT letter, game FROM table_games WHERE table_id = ?", (table_id,))
        )
        return {game.letter: game.paytable.split("/")[0] for game in games} | named

    def board_serial_of(self, table_id: str) -> str:
        row = self._store.row("SELECT board_serial FROM tables WHERE id = ?", (table_id,))
        return row[0] if row else ""

    def rules(self, table_id: str) -> TableRules:
        """The rules of a known table, with its jackpots' terms as they are in force now."""
        settings = self._settings(table_id)
        meters = dict.fromkeys(meter.id for game in settings.games for meter in game.meters)
        standings = {meter_id: self._jackpots.standing(meter_id) for meter_id in meters}
        terms = {meter_id: standing.terms for meter_id, standing in standings.items()}
        stopped = [each.stopped for each in standings.values() if each.stopped]
        stop_sentence = stopped[0] if stopped else ""
        kept = self._rules.get(table_id)
        if kept and (kept.jackpots, kept.settings.stop_sentence) == (terms, stop_sentence):
            return kept
        stopping = replace(settings, stop_sentence=stop_sentence)
        self._rules[table_id] = TableRules(stopping, terms)
        return self._rules[table_id]

    def _settings(self, table_id: str) -> TableSettings:
        """As they were set up; whether play is stopped now is told by the jackpots."""
        kept = self._rules.get(table_id)
        settings = kept.settings if kept else self.settings_of(table_id)
        if settings is None:
            raise LedgerError(f"There is no table {table_id}.")
        return settings

    def table_of_unit(self, unit_id: str) -> str | None:
        """The table a unit belongs to: a unit goes by its board's serial or by its table's id."""
        row = self._store.row(
            "SELECT id FROM tables WHERE (board_serial = ?1 AND board_serial <> '') OR id = ?1"
            " ORDER BY id = ?1 DESC LIMIT 1",
            (unit_id,),
        )
        return row[0] if row else None
