"""What a person with the ledger's file and some SQL could do to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.store.store import Store


def tamper(store: Store, statement: str, values: Sequence[Any] = ()) -> None:
    """Runs a statement on the writer's own connection, behind the books' back."""
    engine = store.engine
    assert isinstance(engine, SqliteEngine)
    engine.connection.execute(statement, values)


def take_guards_away(store: Store) -> None:
    for (name,) in store.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
        tamper(store, f"DROP TRIGGER {name}")


def forge(store: Store, statement: str, values: Sequence[Any] = ()) -> None:
    """Takes the triggers away first."""
    take_guards_away(store)
    tamper(store, statement, values)
