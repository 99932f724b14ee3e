"""The rows that a step changed beside the money, as the bytes that its transaction carries.

One flat list in CBOR. For each row: the relation's number, a mask, the key, and values. The mask
is 0 for a new row, whose other columns all follow; -1 for a row that went; else a bit for each
column whose new value follows. A value that is the moment of the commit is left out (null).
Flat, because a nested list costs more to write than what is in it, for every wager.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import cbor2

from manager.ledger.store.relations import NUMBERS, RELATIONS, Key, Relation, Row

NEW, GONE = 0, -1
_BY_NUMBER = tuple(RELATIONS.values())


class Unreadable(Exception):  # noqa: N818
    """These bytes tell no changes."""


class Change(NamedTuple):
    relation: Relation
    key: Key
    mask: int
    values: tuple[Any, ...]


def packed(changed: Iterable[tuple[str, Key, Row | None, Row | None]], now_ms: int) -> bytes:
    """From (relation, key, row before the step, row after it); b"" when nothing differs."""
    flat: list[Any] = []
    for name, key, before, after in changed:
        if after is None:
            flat += (NUMBERS[name], GONE, *key)
        elif before is None:
            flat += (NUMBERS[name], NEW, *key)
            flat += [None if value == now_ms else value for value in after[len(key) :]]
        elif before != after:
            mask, bit, values = 0, 1, []
            for then, now in zip(before, after, strict=True):
                if then != now:
                    mask |= bit
                    values.append(None if now == now_ms else now)
                bit <<= 1
            flat += (NUMBERS[name], mask, *key, *values)
    return cbor2.dumps(flat) if flat else b""


def unpacked(changes: bytes, commit_ms: int) -> Iterator[Change]:
    """What `packed` was told, or `Unreadable` somewhere on the way."""
    try:
        flat = cbor2.loads(changes)
    except (cbor2.CBORError, ValueError) as error:
        raise Unreadable(str(error)) from error
    if type(flat) is not list or not _VALUES.issuperset(map(type, flat)):
        raise Unreadable("it is no list of values")
    at, end = 0, len(flat)
    while at < end:
        relation, mask = _head(flat, at)
        width = len(relation.columns)
        start = at + 2 + relation.key_count
        if mask == NEW:
            at = start + width - relation.key_count
        else:
            at = start + (0 if mask == GONE else mask.bit_count())
        if at > end:
            raise Unreadable("it is cut off")
        values = tuple([commit_ms if each is None else each for each in flat[start:at]])
        yield Change(relation, tuple(flat[start - relation.key_count : start]), mask, values)


_VALUES = frozenset({int, str, bytes, type(None)})


def _head(flat: list[Any], at: int) -> tuple[Relation, int]:
    number, mask = flat[at], flat[at + 1] if at + 1 < len(flat) else None
    if type(number) is not int or not 0 <= number < len(_BY_NUMBER):
        raise Unreadable(f"there is no relation {number!r}")
    relation = _BY_NUMBER[number]
    if type(mask) is not int or not GONE <= mask < 1 << len(relation.columns):
        raise Unreadable(f"{relation.name} has no columns {mask!r}")
    return relation, mask


def with_changes(relation: Relation, row: Row, mask: int, values: tuple[Any, ...]) -> Row:
    """The row with the values that the mask names."""
    changed, given = list(row), iter(values)
    for place in range(len(relation.columns)):
        if mask >> place & 1:
            changed[place] = next(given)
    return tuple(changed)
