"""What each of the operators' commands writes into the ledger, and which tables hear of it.

It alone knows which part of the manager answers which command. Who may give one, and whether a
second person agreed, is decided before.
"""

from __future__ import annotations

from collections.abc import Mapping

from manager.intake import approvals
from manager.intake.units import Units
from manager.ledger.book import Book
from manager.ledger.corrections.reasons import Signed

Request = Mapping[str, str]
ADOPT_JOURNAL = "adopt-journal"
RELEASE_UNIT = "release-unit"


class Booking:
    def __init__(self, book: Book, units: Units) -> None:
        self._book = book
        self._units = units

    def book(self, request: Request) -> str:
        """Writes a request into the ledger and tells what was done, or refuses it."""
        command = request.get("command")
        if command == ADOPT_JOURNAL:
            return self._adopt_journal(request)
        if command == RELEASE_UNIT:
            return self._release_unit(request)
        return approvals.carry_out(self._book, request)

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
