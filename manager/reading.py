"""The ledger for someone who only reads: an audit, an explanation, an export.

While a manager serves, nobody else may open its ledger; it then makes a copy, and the copy is read
and removed. Where no manager serves, the file itself is read.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manager.clock import wall_clock_ms
from manager.control import COPY, SOCKET_NAME, ask
from manager.ledger.database import open_database
from manager.ledger.errors import LedgerError
from manager.ledger.store import Store
from manager.places import LEDGER_NAME

COPIES_NAME = "copies"


@contextmanager
def ledger_to_read(data: Path, check_tail: bool = True) -> Iterator[Store]:
    path = data / LEDGER_NAME
    if not path.is_file():
        raise LedgerError(f"There is no ledger in {data}.")
    answer = ask(data / SOCKET_NAME, {"command": COPY})
    if answer is None:
        with _opened(path, check_tail) as store:
            yield store
        return
    done, name = answer
    if not done:
        raise LedgerError(name)
    copy = data / COPIES_NAME / name
    try:
        with _opened(copy / LEDGER_NAME, check_tail) as store:
            yield store
    finally:
        shutil.rmtree(copy, ignore_errors=True)


@contextmanager
def _opened(path: Path, check_tail: bool) -> Iterator[Store]:
    store = Store(open_database(str(path)), wall_clock_ms, check_tail)
    try:
        yield store
    finally:
        store.close()


class CopyDesk:
    """The serving manager's part: copies beside its ledger, a little at a time."""

    def __init__(self, store: Store, data: Path) -> None:
        self._store = store
        self._folder = data / COPIES_NAME
        shutil.rmtree(self._folder, ignore_errors=True)  # of readers that died

    async def copy(self) -> str:
        """Makes a copy as of the moment it is finished, and returns its name."""
        name = secrets.token_hex(8)
        place = self._folder / name
        self._folder.mkdir(mode=0o700, exist_ok=True)
        place.mkdir(mode=0o700)
        try:
            for _ in self._store.copied(str(place / LEDGER_NAME)):
                await asyncio.sleep(0)  # the tables first
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        return name
