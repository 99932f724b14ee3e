"""Moves the transactions of closed days into a sealed file, and only then out of the ledger.

The file is on the medium, read back and held against the ledger row by row before a row goes; a
power cut in between leaves rows in both places, which readers see once, and the next call goes on
from there. The chain, the balances and all other rows stay. Nobody else writes meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

from kit.files import private_folder, sync_folder
from manager.ledger.engines.archives import (
    FOLDER,
    MOVED,
    Archive,
    archive_path,
    archives_in,
    joined_files,
    remove_archived,
    write_archive,
)
from manager.ledger.engines.engine import Engine, Reader
from manager.ledger.engines.places import database_of, engine_at, is_database, reader_at
from manager.ledger.engines.relations import CLOSED_DAYS, RELATIONS, Row
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.engines.sqlite_reader import SqliteReader, opened_to_read
from manager.ledger.errors import LedgerError
from manager.ledger.store.chain import next_digest
from manager.ledger.store.ledger import Ledger

FILES_MAX = 60  # SQLite attaches at most 125
JOINED = 30  # a month of nightly archives becomes one file
_KEYS = dict(zip(MOVED, ("number", "transaction_number"), strict=True))


def archive_days(data: Path, place: str, until: str) -> str:
    """Archives every closed day up to this one; refuses while a manager serves."""
    engine = engine_at(place)
    if engine.acquire() is None:
        raise LedgerError("A manager serves from this ledger: stop it first.")
    try:
        return _archive(engine, private_folder(data / FOLDER), place, until)
    finally:
        engine.close()


def _archive(engine: Engine, folder: Path, place: str, until: str) -> str:
    reader = reader_at(place, folder)
    try:
        days = [row for row in Ledger(reader).find(CLOSED_DAYS, {}) if row[0] <= until]
        last = max((row[1] for row in days), default=0)
        done = archives_in(folder)
        following = done[-1].last + 1 if done else 1
        if last >= following:
            made = Archive(archive_path(folder, following, last), following, last)
            own = (_own_rows(reader, name, following, last) for name in MOVED)
            write_archive(made.path, *own)
            done.append(made)
        if not done:
            raise LedgerError(f"No day up to {until} is closed: `close-day` does that.")
        first = next(_first_own(reader))
        _check(reader, [each for each in done if each.first >= first])
    finally:
        reader.close()
    is_done = first >= done[-1].last
    if not is_done:
        _remove(engine, place, done[-1].last)
    _join(folder)
    if is_done:
        return f"The days up to {until} are archived already."
    return f"Transactions up to {done[-1].last} are in {folder}."


def _join(folder: Path) -> None:
    """Makes one file of many, because SQLite reads no more than 125 beside a ledger.

    Neighbours that hold least are taken, so that what was joined is not soon written again. The
    joined one is on the medium and compared before it has its place; a power cut leaves both, and
    readers see the larger one alone.
    """
    done = archives_in(folder)
    if len(done) >= FILES_MAX:
        begins = range(len(done) - JOINED + 1)
        runs = [done[begin : begin + JOINED] for begin in begins]
        _join_run(folder, min(runs, key=lambda run: run[-1].last - run[0].first))
    for path in joined_files(folder):
        path.unlink()
    sync_folder(folder)


def _join_run(folder: Path, run: list[Archive]) -> None:
    place = archive_path(folder, run[0].first, run[-1].last)
    made = private_folder(folder / "joining") / place.name
    with ExitStack() as opened:
        files = [_opened(each.path, opened) for each in run]
        write_archive(made, *(_in_turn(files, run, name) for name in MOVED))
        whole = _opened(made, opened)
        for name in MOVED:
            rows = _own_rows(whole, name, run[0].first, run[-1].last)
            for here, there in zip_longest(rows, _in_turn(files, run, name)):
                if here != there:
                    raise LedgerError(
                        f"{made} is not what the files have that it joins; they stay."
                    )
    made.replace(place)
    sync_folder(folder)


def _opened(path: Path, opened: ExitStack) -> SqliteReader:
    file = SqliteReader(opened_to_read(str(path)))
    opened.callback(file.close)
    return file


def _in_turn(files: list[SqliteReader], run: list[Archive], name: str) -> Iterator[Row]:
    for file, each in zip(files, run, strict=True):
        yield from _own_rows(file, name, each.first, each.last)


def _own_rows(reader: Reader, name: str, first: int, last: int) -> Iterator[Row]:
    """Rows that the ledger itself still has."""
    own, relation = reader.parts()[-1].prefix, RELATIONS[name]
    keys = ", ".join(relation.columns[: relation.key_count])
    return reader.rows(
        f"SELECT {', '.join(relation.columns)} FROM {own}{name}"
        f" WHERE {_KEYS[name]} >= ? AND {_KEYS[name]} <= ? ORDER BY {keys}",
        (first, last),
    )


def _first_own(reader: Reader) -> Iterator[int]:
    own = reader.parts()[-1].prefix
    query = f"SELECT number FROM {own}transactions ORDER BY number LIMIT 1"
    return (row[0] for row in reader.rows(query))


def _check(reader: Reader, archives: list[Archive]) -> None:
    """What is in the files is what is in the ledger, and their chain is whole."""
    for each in archives:
        file = SqliteReader(opened_to_read(str(each.path)))
        try:
            _check_file(reader, file, each)
        finally:
            file.close()


def _check_file(reader: Reader, file: SqliteReader, archive: Archive) -> None:
    for name in MOVED:
        kept = _own_rows(reader, name, archive.first, archive.last)
        copied = _own_rows(file, name, archive.first, archive.last)
        for here, there in zip_longest(kept, copied):
            if here != there:
                raise LedgerError(
                    f"{archive.path} is not what the ledger has, and nothing was removed."
                )
    before = Ledger(reader).genesis()
    if archive.first > 1:
        before = next(Ledger(reader).recorded(archive.first - 1, archive.first - 1))[1]
    for recorded, digest in Ledger(file).recorded(archive.first, archive.last):
        if next_digest(before, recorded) != digest:
            raise LedgerError(f"Transaction {recorded.number} does not match its digest.")
        before = digest


def _remove(engine: Engine, place: str, last: int) -> None:
    if is_database(place):
        from manager.ledger.engines.postgres_copy import remove_archived as remove_rows

        remove_rows(*database_of(place), last)
    else:
        assert isinstance(engine, SqliteEngine)
        remove_archived(engine.connection, last)
