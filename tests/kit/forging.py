"""What whoever owns the ledger's file can do to it so that it still proves itself.

All forgeries leave a chain whose every digest is right and rows that all follow from it. Only
somebody who was told of the tail before can know better.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from manager.ledger.engines.sqlite_engine import open_reader
from manager.ledger.store.chain import next_digest
from manager.ledger.store.ledger import Ledger
from protocol.wire.events import SEAL

CENT = 1_000_000  # micro-cents


def shift_a_cent(path: Path) -> int:
    """A cent of the first wagers goes to the meter instead of the house; all is chained anew.

    Returns the first transaction that says something else now.
    """
    connection = apsw.Connection(str(path))
    guards = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
    ).fetchall()
    for name, _ in guards:
        connection.execute(f"DROP TRIGGER {name}")
    number: int = connection.execute(
        "SELECT min(number) FROM transactions WHERE kind = 'WAGER'"
    ).get
    accounts = [
        account
        for (account,) in connection.execute(
            "SELECT account FROM postings WHERE transaction_number = ? ORDER BY position", (number,)
        )
    ]
    meter = next(account for account in accounts if account.startswith("meter/"))
    house = next(account for account in accounts if account.startswith("house"))
    for account, amount in ((meter, CENT), (house, -CENT)):
        connection.execute(
            "UPDATE postings SET amount_microcents = amount_microcents + ?"
            " WHERE transaction_number = ? AND account = ?",
            (amount, number, account),
        )
        connection.execute(
            "UPDATE balances SET amount_microcents = amount_microcents + ? WHERE account = ?",
            (amount, account),
        )
    _chain_anew(connection, path)
    for _, statement in guards:
        connection.execute(statement)
    connection.close()
    return number


def hide_the_seals(path: Path) -> None:
    """Makes the view of the events anew, without those that countersign a tail."""
    connection = apsw.Connection(str(path))
    view: str = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'events'").get
    connection.execute("DROP VIEW events")
    connection.execute(f"{view} AND event_kind <> {SEAL}")
    connection.close()


def _chain_anew(connection: apsw.Connection, path: Path) -> None:
    ledger = Ledger(open_reader(str(path)))
    digest, digests = ledger.genesis(), []
    for recorded, _ in ledger.recorded():
        digest = next_digest(digest, recorded)
        digests.append((digest, recorded.number))
    ledger.close()
    connection.executemany("UPDATE transactions SET digest = ? WHERE number = ?", digests)
