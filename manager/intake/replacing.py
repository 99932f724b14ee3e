"""A unit that is dead, and another one that takes its table over: nothing lost, nothing twice.

The new unit is permitted to go on with a journal of its own, as for any new journal. The old one is
locked from this moment on: should it come back, it has nothing to say any more. What the manager
has of its journal is told to the new unit; what it had not sent is only on its disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from manager.intake.units import Unit, Units
from manager.ledger.alarms import Alarms
from manager.ledger.corrections.reasons import Signed
from manager.ledger.engines.relations import UNITS
from manager.ledger.errors import LedgerError
from manager.ledger.rounds import Rounds
from manager.ledger.store.entries import Entry, EventSource, Kind, Reference
from manager.ledger.store.store import Store
from protocol.wire.fields import clipped

REPLACE_UNIT: Final = "replace-unit"

Request = Mapping[str, str]


class Replacing:
    def __init__(self, store: Store, units: Units, alarms: Alarms) -> None:
        self._store = store
        self._units = units
        self._alarms = alarms
        self._rounds = Rounds(store)

    def record(self, request: Request, signed: Signed) -> str:
        """Permits the new unit and locks the old one, in one step; says what may be missing."""
        unit_id, table_id, reason = (
            request.get(name, "").strip() for name in ("unit", "table", "reason")
        )
        before = self._units.of_table(table_id)
        if before is None:
            raise LedgerError(f"Table {table_id} has no unit that could be replaced.")
        if not unit_id or unit_id == before.unit_id:
            raise LedgerError(
                f"Unit {before.unit_id} serves table {table_id} already; a new disk of the same"
                " unit goes on by adopt-journal."
            )
        latest = self._rounds.latest(table_id)
        is_on = latest is not None and latest.is_on
        if is_on:
            signed.require_two("Replacing a unit in a game")
        with self._store.transaction():
            self._units.permit_new_journal(unit_id, table_id, signed, reason)
            self._lock(before, unit_id)
            sentence = f"Unit {unit_id} takes table {table_id} over from unit {before.unit_id}"
            told = {"who": signed.operator, "second": signed.second, "act": REPLACE_UNIT}
            told |= {"unit": unit_id, "before": before.unit_id, "reason": reason}
            told |= {"last_sequence": str(before.last_sequence)}
            text = clipped(f"{signed.names}: {sentence}: {reason}")
            self._store.append(Entry(Kind.ACT, Reference(table_id), text, (), detail=told))
            self._alarms.record("REPLACED", text, table_id, EventSource(before.unit_id))
        return self._answer(before, unit_id, latest.number if latest and is_on else 0)

    def _lock(self, before: Unit, unit_id: str) -> None:
        sentence = f"unit {unit_id} takes its table over."
        self._store.update(UNITS, (before.unit_id,), lock_sentence=sentence)

    def _answer(self, before: Unit, unit_id: str, round_number: int) -> str:
        game = (
            f"Game {round_number} goes on there with its bets and claims.\n" if round_number else ""
        )
        return (
            f"Unit {unit_id} may take table {before.table_id} over, once, within an hour.\n{game}"
            f"Unit {before.unit_id} is locked out, and its certificates end. This manager has its"
            f" records up to number {before.last_sequence}.\nWhat it recorded after that and could"
            " not send is lost unless its disk can be read: then run, on the new unit,\n"
            f"  sudo underfelt restore --from FOLDER\nNow make a code for table {before.table_id};"
            f" only unit {unit_id} can use it."
        )
