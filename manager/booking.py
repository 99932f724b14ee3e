"""What each of the operators' commands writes into the ledger, and which tables hear of it.

It alone knows which part of the manager answers which command. Who may give one, and whether a
second person agreed, is decided before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kit.config import ConfigError
from manager.games import Paytable, open_catalogue
from manager.intake import approvals
from manager.intake.replacing import REPLACE_UNIT, Replacing
from manager.intake.units import Units
from manager.ledger.book import Book
from manager.ledger.corrections.reasons import Signed
from manager.ledger.errors import LedgerError
from manager.rollouts.acts import COMMANDS as ROLLOUT_COMMANDS
from manager.rollouts.acts import RolloutActs
from manager.setup import table_people
from manager.setup.unit_settings import check_reserve

Request = Mapping[str, str]
ADOPT_JOURNAL = "adopt-journal"
RELEASE_UNIT = "release-unit"
CHANGE_TERMS = "change-terms"
OPEN_TABLE = "open-table"


class TableRefused(LedgerError):  # noqa: N818
    """A table cannot be opened so; each problem names what in its file is wrong."""

    def __init__(self, error: ConfigError) -> None:
        super().__init__(str(error))
        self.problems = error.problems


def _find_shipped(name: str) -> Paytable | None:
    return open_catalogue().find(name)


class Booking:
    def __init__(
        self,
        book: Book,
        units: Units,
        find_paytable: Callable[[str], Paytable | None] = _find_shipped,
        open_text: Callable[[str], str] | None = None,
        rollouts: RolloutActs | None = None,
    ) -> None:
        """`open_text` opens the table that TOML describes; None where only its file may.

        `rollouts` are those of a manager that serves.
        """
        self._rollouts = rollouts
        self._open_text = open_text
        self._book = book
        self._units = units
        self._find_paytable = find_paytable

    def book(self, request: Request) -> str:
        """Writes a request into the ledger and tells what was done, or refuses it."""
        command = request.get("command")
        if command == ADOPT_JOURNAL:
            return self._adopt_journal(request)
        if command == RELEASE_UNIT:
            return self._release_unit(request)
        if command == OPEN_TABLE:
            return self._open_table(request)
        if command in ROLLOUT_COMMANDS:
            return self._roll_out(request)
        if command == REPLACE_UNIT:
            replacing = Replacing(self._book.store, self._units, self._book.alarms)
            return replacing.record(request, _signed(request))
        if command in table_people.COMMANDS:
            return table_people.carry_out(self._book, request, _signed(request))
        if command == CHANGE_TERMS:
            return self._change_terms(request)
        return approvals.carry_out(self._book, request)

    def _roll_out(self, request: Request) -> str:
        if self._rollouts is None:
            raise LedgerError("The manager must serve for that; start it first.")
        return self._rollouts.record(request, _signed(request))

    def _open_table(self, request: Request) -> str:
        if self._open_text is None:
            raise LedgerError("This manager opens a table from its file, when it starts.")
        _signed(request).require_two("Opening a table")
        try:
            table_id = self._open_text(request.get("text", ""))
        except ConfigError as error:
            raise TableRefused(error) from error
        meters = self._book.tables.rules(table_id).meter_ids
        return f"Table {table_id} is open, on {' and '.join(meters)}."

    def _change_terms(self, request: Request) -> str:
        with self._book.store.transaction():
            sentence = approvals.carry_out(self._book, request)
            self._keep_printed_reserves(request.get("jackpot", ""))
        return sentence

    def _keep_printed_reserves(self, meter_id: str) -> None:
        """A reserve that a paytable's document prints is no term of the house."""
        tables, jackpots = self._book.tables, self._book.jackpots
        for game in (game for name in tables.ids() for game in tables.rules(name).settings.games):
            names = [meter.id for meter in game.meters]
            paytable = self._find_paytable(game.paytable)
            if meter_id in names and paytable is not None:
                standings = [jackpots.standing(name) for name in names]
                coming = [each.pending or each.terms for each in standings]
                try:
                    check_reserve(paytable, coming, ())
                except ConfigError as error:
                    raise LedgerError(error.problems[0].sentence) from error

    def _adopt_journal(self, request: Request) -> str:
        unit_id, reason = (request.get(name, "").strip() for name in ("unit", "reason"))
        table_id = self._units.permit_new_journal(
            unit_id, request.get("table", ""), _signed(request), reason
        )
        return (
            f"Unit {unit_id} is permitted to go on at table {table_id} with a new journal,\n"
            "once, within an hour. Nothing has changed yet: it is in force when the unit connects\n"
            "with that journal, and the alarm NEW_JOURNAL says so. The damaged journal is kept at\n"
            "the unit."
        )

    def _release_unit(self, request: Request) -> str:
        unit_id = request.get("unit", "").strip()
        self._units.release(unit_id, request.get("reason", ""), _signed(request))
        return f"Unit {unit_id} is released; it calls again by itself."


def _signed(request: Request) -> Signed:
    return Signed(request.get("operator", ""), request.get("second") or "")
