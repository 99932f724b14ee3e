"""`who-owns`, `move-group`, `share-identities`: the commands of a property with several managers.

They speak to the database, so they work from any manager's folder, whoever serves.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kit.files import private_folder
from manager.data_folder import add_data_option
from manager.identity.folder import IdentityFolder
from manager.ledger.engines.places import SCHEMA, database_of, is_database
from manager.ledger.errors import LedgerError
from manager.ledger_place import ledger_place
from manager.people.passwords import KEY_NAME, load_key


def who_owns(arguments: Sequence[str]) -> int:
    options = _parser("who-owns").parse_args(arguments)
    url, _ = _database(options.data)
    from manager.ledger.engines.postgres_lease import groups_in
    from manager.watched_floor import look_once

    for schema in groups_in(url):
        standing = look_once(url, schema)
        owner = standing.owner
        name = schema.removeprefix(SCHEMA).removeprefix("_") or "the whole floor"
        nobody = "a manager without a name" if standing.is_held else "nobody at this moment"
        held = f"{owner.name} at {owner.link}" if owner else nobody
        print(f"{name}: {held}, epoch {standing.epoch}, {standing.last_number} entries")
        for each in standing.managers:
            if owner is None or each.name != owner.name:
                print(f"  {each.name} {'stands by' if each.is_there else 'is not seen'}")
    return 0


def move_group(arguments: Sequence[str]) -> int:
    parser = _parser("move-group")
    parser.add_argument("--to", required=True, metavar="NAME", help="the manager that takes over")
    options = parser.parse_args(arguments)
    from manager.watched_floor import ask_to_move

    print(ask_to_move(*_database(options.data), options.to))
    return 0


def share_identities(arguments: Sequence[str]) -> int:
    parser = _parser("share-identities")
    parser.add_argument("--writer", metavar="ROLE", help="the role that the managers sign in with")
    parser.add_argument("--as", dest="url", metavar="URL", help="the tables' owner, if another")
    options = parser.parse_args(arguments)
    # A folder knows its database once it was served from; its owner may share before that.
    url, _ = database_of(options.url) if options.url else _database(options.data)
    from manager.identity.postgres_store import share

    folder = IdentityFolder(private_folder(options.data))
    folder.ensure()
    count = share(folder, url, options.writer)
    print(f"{count} certificates are in the database now, for every manager of this floor.")
    load_key(options.data)  # made now, so that there is one to copy
    print(f"Copy {folder.path} to each of them before it starts; without ca.key it cannot issue.")
    print(f"Copy {KEY_NAME} beside it, too: without it no password fits after a takeover.")
    return 0


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m manager {name}", description=__doc__)
    add_data_option(parser)
    return parser


def _database(data: Path) -> tuple[str, str]:
    place = ledger_place(data)
    if not is_database(place):
        raise LedgerError(f"The ledger of {data} is a file, and its manager serves alone.")
    return database_of(place)
