"""Where a manager's ledger is: a file in its folder, unless the folder names a database.

The database's address is kept in the folder, so that every command finds the ledger without being
told.
"""

from __future__ import annotations

from pathlib import Path

from kit.files import write_private
from manager.data_folder import LEDGER_NAME
from manager.ledger.engines.archives import FOLDER as ARCHIVE_FOLDER
from manager.ledger.engines.places import is_database, reader_at
from manager.ledger.errors import LedgerError

DATABASE_NAME = "database"  # holds the database's address, where the ledger is in one


def ledger_place(data: Path) -> str:
    """What `manager.ledger.engines.places` opens: the database's address, or the file's path."""
    note = data / DATABASE_NAME
    if note.is_file():
        return note.read_text(encoding="utf-8").strip()
    return str(data / LEDGER_NAME)


def existing_ledger(data: Path) -> str:
    """The same; refuses a folder that has no ledger at all."""
    place = ledger_place(data)
    if not is_database(place) and not Path(place).is_file():
        raise LedgerError(f"There is no ledger in {data}.")
    return place


def take_database(data: Path, url: str) -> str:
    """The ledger that a person named for this folder; kept once it was found and can be read."""
    _refuse_other_names(url)
    if (data / LEDGER_NAME).exists():
        raise LedgerError(
            f"There is a ledger in {data} already: move it to the database with `python -m manager"
            " move-ledger`, or serve from another folder."
        )
    reader_at(url, data / ARCHIVE_FOLDER).close()  # a slip of the pen is not remembered
    keep_database(data, url)
    return url


def keep_database(data: Path, url: str) -> None:
    """Every command finds the ledger from now on; the address may hold a password."""
    _refuse_other_names(url)
    write_private(data / DATABASE_NAME, f"{url}\n".encode())


def forget_database(data: Path) -> None:
    (data / DATABASE_NAME).unlink(missing_ok=True)


def _refuse_other_names(url: str) -> None:
    if not is_database(url):
        raise LedgerError("A database is named as postgresql://USER@HOST/NAME.")
