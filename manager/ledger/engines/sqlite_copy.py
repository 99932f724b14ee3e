"""Writes a whole ledger into a SQLite file that was not there, all or nothing.

It has another name until it is whole, so that no manager opens half of one after a power cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import apsw

from kit.files import files_for_the_owner_only, sync_folder
from manager.ledger.engines.relations import RELATIONS, Row
from manager.ledger.engines.sqlite_engine import LOCK_SUFFIX, SqliteEngine, insert_of
from manager.ledger.errors import StoreError

UNFINISHED = ".unfinished"
_LOG_SUFFIX = "-wal"


def write_whole(path: str, ledger_id: bytes, rows: Mapping[str, Iterable[Row]]) -> None:
    if Path(path).exists():
        raise StoreError(f"There is a ledger in {path} already.")
    part = path + UNFINISHED
    remove_whole(part)  # which a power cut may have left
    try:
        with files_for_the_owner_only():
            _write(part, ledger_id, rows)
        Path(part).rename(path)
        sync_folder(Path(path).parent)
    finally:
        remove_whole(part)


def remove_whole(path: str) -> None:
    """Takes back what `write_whole` has just written."""
    for suffix in ("", _LOG_SUFFIX, "-shm", LOCK_SUFFIX):
        file = Path(path + suffix)
        if file.exists():  # a medium that takes no writing refuses to remove even nothing
            file.unlink()


def _write(path: str, ledger_id: bytes, rows: Mapping[str, Iterable[Row]]) -> None:
    engine = SqliteEngine(path, random_bytes=lambda count: ledger_id)
    if engine.acquire() is None:
        raise StoreError(f"The ledger {path} is in use by another process.")
    try:
        with engine.connection:
            for name, relation in RELATIONS.items():
                engine.connection.executemany(insert_of(relation), rows[name])
    except apsw.Error as error:
        raise StoreError(f"The ledger {path} cannot be written: {error}.") from error
    finally:
        engine.close()
    if Path(path + _LOG_SUFFIX).exists():  # closing could not bring it into the file
        raise StoreError(f"The ledger {path} cannot be written to its end.")
