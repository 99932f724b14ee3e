"""`python -m manager adopt-journal UNIT`: an operator lets a unit go on with a new journal.

The ledger belongs to the serving process, so the permit is left in the database of identities,
where the serving manager finds it within half a second and makes it known by an alarm. It counts
once, for that unit, within an hour.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from manager.clock import wall_clock_ms
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity.store import IdentityStore
from manager.ledger.errors import LedgerError
from manager.places import add_data_option
from manager.succession import Successions
from protocol.command_line import run_command

_TABLE = (
    "CREATE TABLE IF NOT EXISTS permits (number INTEGER PRIMARY KEY, unit_id TEXT NOT NULL,"
    " table_id TEXT NOT NULL, operator TEXT NOT NULL, reason TEXT NOT NULL) STRICT"
)
REFUSED = 2


class PermitBox:
    """Permits on their way from an operator's command to the serving manager."""

    def __init__(self, store: IdentityStore) -> None:
        self._store = store
        store.execute(_TABLE)

    def put(self, unit_id: str, table_id: str, operator: str, reason: str) -> None:
        with self._store.transaction():
            self._store.execute(
                "INSERT INTO permits (unit_id, table_id, operator, reason) VALUES (?, ?, ?, ?)",
                (unit_id, table_id, operator, reason),
            )

    def table_of(self, unit_id: str, named: str) -> str:
        """The table the unit is to serve: the one it serves, or the one that is named."""
        rows = self._store.rows("SELECT table_id, unit_id FROM tables")
        served = [table_id for table_id, unit in rows if unit_id in (unit, table_id)]
        if not named and not served:
            raise IdentityError(
                f"Unit {unit_id} serves no table here; say which one it takes over: --table ID."
            )
        table_id = named or served[0]
        if table_id not in [row[0] for row in rows]:
            raise IdentityError(f"There is no table {table_id}.")
        if served and served[0] != table_id:
            raise IdentityError(f"Unit {unit_id} serves table {served[0]}.")
        return table_id

    def pass_on(self, successions: Successions) -> None:
        """In the serving process: what was left here becomes part of the ledger."""
        for number, *permit in self._store.rows("SELECT * FROM permits ORDER BY number"):
            try:
                successions.permit(*permit)
            except LedgerError as error:
                self._store.note("NEW_JOURNAL_REFUSED", str(error), permit[0], permit[1])
            self._store.execute("DELETE FROM permits WHERE number = ?", (number,))


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        _permit(options)
    except IdentityError as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager adopt-journal", description=__doc__)
    parser.add_argument("unit", metavar="UNIT", help="the unit, by its board's serial number")
    add_data_option(parser)
    parser.add_argument("--table", default="", metavar="ID", help="the table a new unit takes over")
    parser.add_argument("--operator", required=True, metavar="NAME", help="who permits it")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why")
    return parser


def _permit(options: argparse.Namespace) -> None:
    folder = IdentityFolder(options.data)
    if not folder.path.is_dir():
        raise IdentityError(f"There are no identities in {options.data}; start the manager once.")
    if not options.operator.strip() or not options.reason.strip():
        raise IdentityError("A permit needs the operator's name and a reason.")
    store = IdentityStore(str(folder.database), wall_clock_ms)
    try:
        box = PermitBox(store)
        table_id = box.table_of(options.unit, options.table)
        box.put(options.unit, table_id, options.operator, options.reason)
    finally:
        store.close()
    print(f"Unit {options.unit} may go on at table {table_id} with a new journal, once,")
    print("within an hour. The damaged journal is kept at the unit.")


if __name__ == "__main__":
    run_command(main)
