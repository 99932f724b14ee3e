"""`make-ledger` and `move-ledger`: a ledger in a database, and its way there and back.

A move is over when the copy was audited and ends where the original ends. The original stays where
it was; the folder then says where the manager finds its ledger.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from manager.audit.audit import audit
from manager.data_folder import LEDGER_NAME, add_data_option
from manager.ledger.engines.archives import FOLDER as ARCHIVE_FOLDER
from manager.ledger.engines.engine import Owner, Tail
from manager.ledger.engines.moving import copy_ledger, make_ledger, remove_copy
from manager.ledger.engines.places import database_of, engine_at, is_database, reader_at
from manager.ledger.engines.relations import TRANSACTIONS
from manager.ledger.errors import LedgerError
from manager.ledger.store.ledger import Ledger
from manager.ledger_place import existing_ledger, forget_database, keep_database

FOLDER = "folder"
MOVED_AWAY = ".moved"


def make(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager make-ledger", description=make.__doc__)
    parser.add_argument("database", metavar="URL", help="postgresql://OWNER@HOST/NAME")
    parser.add_argument("--writer", metavar="ROLE", help="the role that the manager signs in with")
    options = parser.parse_args(arguments)
    make_ledger(options.database, options.writer)
    print("The ledger is there and empty. Start the manager with --database.")
    return 0


def move(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager move-ledger", description=__doc__)
    add_data_option(parser)
    parser.add_argument("to", metavar="URL|folder", help="a database, or back into the folder")
    parser.add_argument("--writer", metavar="ROLE", help="the role that the manager signs in with")
    parser.add_argument("--as", dest="url", metavar="URL", help="the tables' owner, if another")
    options = parser.parse_args(arguments)
    target = str(options.data / LEDGER_NAME) if options.to == FOLDER else options.to
    source = existing_ledger(options.data)
    if options.url and is_database(source):
        source = options.url
    if source == target:
        raise LedgerError("The ledger is there already.")
    sentence, tail = _copied(source, target, options.data / ARCHIVE_FOLDER, options.writer)
    if is_database(source):
        _put_aside_in_the_database(source, target, tail)
    if is_database(target):
        keep_database(options.data, target)
    else:
        forget_database(options.data)
    if not is_database(source):
        _put_aside(Path(source))
    print(f"{sentence}\nThe ledger was moved; the original is kept.")
    return 0


def _copied(
    source: str, target: str, archives: Path, writer: str | None
) -> tuple[str, Tail | None]:
    """What the copy's audit says, and its tail. Archived days stay where they are."""
    engine = engine_at(source, owner=Owner(archive_folder=archives))
    if engine.acquire() is None:
        raise LedgerError("A manager serves from this ledger: stop it first.")
    try:
        tail = copy_ledger(engine, target, writer)
    finally:
        engine.close()
    ledger = Ledger(reader_at(target, archives))
    try:
        finding = audit(ledger)
        newest = ledger.find(TRANSACTIONS, {}, newest=1)
    finally:
        ledger.close()
    copied = Tail(newest[0][0], newest[0][-1]) if newest else None
    if not finding.sound or copied != tail:
        remove_copy(target)
        raise LedgerError(f"The copy is not the original, which is untouched: {finding.sentence}")
    return finding.sentence, tail


def _put_aside(path: Path) -> None:
    """Kept as evidence, under a name that no manager opens by mistake."""
    for suffix in ("", "-wal", "-shm"):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            beside.rename(beside.with_name(path.name + MOVED_AWAY + suffix))


def _put_aside_in_the_database(source: str, copy: str, tail: Tail | None) -> None:
    """The same for a schema: a manager that stands by would go on with it and fork the books."""
    from manager.ledger.engines import postgres_copy

    try:
        postgres_copy.put_aside(*database_of(source), tail)
    except LedgerError as error:
        remove_copy(copy)
        raise LedgerError(
            f"{error} Nothing was moved; --as names the owner of its tables."
        ) from error
