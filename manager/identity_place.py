"""Where a manager's list of identities is: in its folder, or in a database that managers share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from manager.identity.folder import IdentityFolder
from manager.identity.store import IdentityStore
from manager.ledger.engines.places import database_of, is_database
from manager.ledger_place import ledger_place


def identities_of(data: Path, folder: IdentityFolder, now_ms: Callable[[], int]) -> IdentityStore:
    place = ledger_place(data)
    if not is_database(place):
        return IdentityStore(str(folder.database), now_ms)
    from manager.identity.postgres_store import open_identities

    return open_identities(folder, database_of(place)[0], now_ms)
