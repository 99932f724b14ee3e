"""A ledger, a journal and a list of identities as format 1 has them: what their golden dumps hold.

Each is filled by the product's own code with a little of everything that is kept in it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import apsw

from controller.journal.journal import Journal
from manager.identity.registry import Registry
from manager.identity.store import IdentityStore
from protocol.wire import events
from tests.kit.message_samples import EVENT_BODIES, JOURNAL_ID, SETTINGS_IN_FULL
from tests.kit.small_ledger import write_ledger

DUMPS_PATH = Path(__file__).parent / "v1"
# Settings are adopted with their event.
JOURNALED = [body for body in EVENT_BODIES if body.KIND != events.SETTINGS]


def write_journal(path: str) -> None:
    journal = Journal.open(path, new_journal_id=lambda _: JOURNAL_ID, unit_id="UF-0001")
    journal.adopt_settings(SETTINGS_IN_FULL.encode(), 0, 0)
    for number, body in enumerate(JOURNALED, start=1):
        journal.append(body.KIND, body.to_body(), 1_000 * number, 1_790_000_000_000 + number)
    journal.append_many([], [(1000, {1: 5, 2: "", 3: ""})])
    journal.close()


def write_identities(path: str) -> None:
    store = IdentityStore(path, lambda: 1_790_000_000_000)
    registry = Registry(store)
    with store.transaction():
        registry.add("ab" * 32, "UF-0001")
        registry.add_seal_key("UF-0001", bytes(range(32)))
        store.note("ENROLLED", "Unit UF-0001 is enrolled.", "UF-0001", "touch-1")
    registry.revoke("UF-0001", "stolen")
    store.close()


WRITERS: dict[str, Callable[[str], None]] = {
    "ledger": write_ledger,
    "journal": write_journal,
    "identities": write_identities,
}


def dump(path: str) -> str:
    """The whole file as SQL statements, with the pragmas that say whose it is."""
    connection = sqlite3.connect(path)
    pragmas = [
        f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};"
        for name in ("application_id", "user_version")
    ]
    lines = [*pragmas, *connection.iterdump()]
    connection.close()
    return "\n".join(lines) + "\n"


def load(name: str, path: str) -> None:
    """Makes the file that the golden dump describes."""
    connection = apsw.Connection(path)
    connection.execute((DUMPS_PATH / f"{name}.sql").read_text("utf-8"))
    connection.close()
