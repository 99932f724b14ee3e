"""What the books themselves ask of an engine: rows by the values of some columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from manager.ledger.engines.relations import READABLE, Held, Relation, Row, Where


def select_text(
    relation: Relation, columns: tuple[str, ...], newest: int | None, is_bounded: bool
) -> str:
    """SQL with a `?` for each column's value, and one more for what the key must be below."""
    return _text(relation.name, columns, newest, is_bounded)


@lru_cache(maxsize=256)
def _text(name: str, columns: tuple[str, ...], newest: int | None, is_bounded: bool) -> str:
    relation = READABLE[name]
    keys = relation.columns[: relation.key_count]
    wanted = [f"{column} = ?" for column in columns]
    if is_bounded:
        wanted.append(f"{keys[-1]} < ?")
    where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
    down = "" if newest is None else " DESC"
    order = ", ".join(f"{key}{down}" for key in keys)
    limit = "" if newest is None else f" LIMIT {newest}"
    return f"SELECT {', '.join(relation.columns)} FROM {name}{where} ORDER BY {order}{limit}"


def held_rows(find: Callable[[Relation, Where], list[Row]], relation: Relation) -> list[Row]:
    """What a manager keeps of a relation in memory: all of it, or each live row once."""
    if relation.held is Held.ALL:
        return find(relation, {})
    live = (row for where in relation.live for row in find(relation, where))
    return list({relation.key_of(row): row for row in live}.values())
