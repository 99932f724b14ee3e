"""Sealed files with the transactions of days that are closed, beside the ledger that goes on.

Each is a database file with the two tables that make up nearly all of a ledger, and holds a range
of numbers. It needs no seal of its own: the chain runs through it, from the file before it to the
rows that stayed. Who reads a ledger sees both as one. When a day may go is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import apsw

from kit.files import sync_file, sync_folder
from kit.migrations import statements
from manager.ledger.engines.engine import Part
from manager.ledger.engines.relations import POSTINGS, RELATIONS, TRANSACTIONS, Row
from manager.ledger.errors import StoreError

FOLDER = "archive"
APPLICATION_ID = 0x55464152  # "UFAR"
MOVED = (TRANSACTIONS.name, POSTINGS.name)
_NAME = re.compile(r"(\d{12})-(\d{12})\.sqlite")


class Archive(NamedTuple):
    path: Path
    first: int
    last: int


def archives_in(folder: Path | None) -> list[Archive]:
    """Oldest first; together they are the chain from its first transaction on, or it is said.

    A file whose transactions are all in another one was joined to it, and is passed over.
    """
    named = []
    for path in sorted(folder.glob("*.sqlite")) if folder and folder.is_dir() else ():
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise StoreError(f"{path} is not named as an archive is.")
        named.append(Archive(path, int(name[1]), int(name[2])))
    found: list[Archive] = []
    following = 1
    for each in sorted(named, key=lambda archive: (archive.first, -archive.last)):
        if each.last < following:
            continue
        if each.first != following:
            raise missing(following, folder)
        found.append(each)
        following = each.last + 1
    return found


def joined_files(folder: Path) -> list[Path]:
    """Those that are passed over because another one holds the same."""
    used = {each.path for each in archives_in(folder)}
    return sorted(path for path in folder.glob("*.sqlite") if path not in used)


def missing(number: int, folder: Path | None) -> StoreError:
    return StoreError(f"The archive with transaction {number} is missing in {folder}.")


def refuse_gap(part: Part, folder: Path | None) -> None:
    """Without an archive sums would be too small, and a meter might seem never to have played."""
    ((first,),) = part.rows(f"SELECT min(number) FROM {part.prefix}{TRANSACTIONS.name}", ())
    if first is not None and first > part.first:
        raise missing(part.first, folder)


def archive_path(folder: Path, first: int, last: int) -> Path:
    return folder / f"{first:012}-{last:012}.sqlite"


def write_archive(path: Path, transactions: Iterable[Row], postings: Iterable[Row]) -> None:
    """Whole and on the medium when it returns; a power cut before leaves no file of that name."""
    made = path.with_name(path.name + ".new")
    made.unlink(missing_ok=True)
    connection = apsw.Connection(str(made))
    try:
        connection.pragma("journal_mode", "off")  # nobody reads it before it has its name
        connection.pragma("synchronous", "off")
        connection.pragma("application_id", APPLICATION_ID)
        with connection:
            for text in _tables():
                connection.execute(text)
            for name, rows in ((TRANSACTIONS.name, transactions), (POSTINGS.name, postings)):
                marks = ",".join("?" * len(RELATIONS[name].columns))
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    finally:
        connection.close()
    made.chmod(0o400)
    sync_file(made)
    made.replace(path)
    sync_folder(path.parent)


def attach(connection: apsw.Connection, archives: list[Archive]) -> None:
    """Lets every query on this connection see archived rows and those that stayed as one table."""
    if not archives:
        return
    for number, each in enumerate(archives, start=1):
        connection.execute(f"ATTACH ? AS archive_{number}", (str(each.path),))
        if connection.pragma("application_id", schema=f"archive_{number}") != APPLICATION_ID:
            raise StoreError(f"{each.path} is not an archive of a ledger.")
    last = archives[-1].last
    for name, key in zip(MOVED, ("number", "transaction_number"), strict=True):
        parts = [f"SELECT * FROM archive_{n}.{name}" for n in range(1, len(archives) + 1)]
        # Rows may be in both where the power went between writing a file and removing its rows.
        parts.append(f"SELECT * FROM main.{name} WHERE {key} > {last}")
        connection.execute(f"CREATE TEMP VIEW {name} AS {' UNION ALL '.join(parts)}")
    connection.execute(temporary(events_view()))


def remove_archived(connection: apsw.Connection, last: int) -> None:
    """Takes away what an archive holds, in one transaction; the guards are back at its end.

    The last one stays: a start proves the newest entry from the one before it, without archives.
    """
    with connection:
        found = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            " AND tbl_name IN ('transactions', 'postings')"
        ).fetchall()
        for name, _ in found:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM postings WHERE transaction_number < ?", (last,))
        connection.execute("DELETE FROM transactions WHERE number < ?", (last,))
        for _, statement in found:
            connection.execute(str(statement))


def events_view() -> str:
    """The statement that makes the events out of the transactions."""
    (events,) = [text for text in _made() if text.startswith("CREATE VIEW events")]
    return events


def temporary(view: str) -> str:
    """The same for one connection alone."""
    return view.replace("CREATE VIEW", "CREATE TEMP VIEW", 1)


def _tables() -> Iterable[str]:
    """The two tables and their indexes, as the ledger itself has them."""
    return (
        text
        for text in _made()
        if re.match(rf"CREATE (TABLE ({'|'.join(MOVED)})|INDEX ({'|'.join(MOVED)})_)", text)
    )


def _made() -> list[str]:
    text = statements(__package__, "schema.sql")
    made = r"^CREATE (?:TABLE|VIEW|INDEX)\b.*?;$"
    return [each.group() for each in re.finditer(made, text, re.DOTALL | re.MULTILINE)]
