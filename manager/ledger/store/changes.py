"""The rows that a step changed beside the money, as the bytes that its transaction carries.

One flat list in CBOR. For each row: the relation's number, a mask, the key, and values. The mask
is 0 for a new row, whose other columns all follow; -1 for a row that went; else a bit for each
column whose new value follows. A value that is the moment of the commit is left out (null).
Flat, because a nested list costs more to write than what is in it, for every wager.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import compress
from operator import ne
from typing import Any

import cbor2

from manager.ledger.engines.relations import NUMBERS, RELATIONS, Key, Relation, Row

NEW, GONE = 0, -1
_SHAPES = [(each, each.key_count, len(each.columns)) for each in RELATIONS.values()]
_VALUES = frozenset({int, str, bytes, type(None)})


class Unreadable(Exception):  # noqa: N818
    """These bytes tell no changes."""


# A plain tuple, because an audit makes three for every round.
Change = tuple[Relation, Key, int, tuple[Any, ...]]  # mask and values as above


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
            differs = tuple(map(ne, before, after))
            flat += (NUMBERS[name], _mask(differs), *key)
            flat += [None if value == now_ms else value for value in compress(after, differs)]
    return cbor2.dumps(flat) if flat else b""


def unpacked(changes: bytes, commit_ms: int) -> list[Change]:
    """What `packed` was told, or `Unreadable`."""
    try:
        flat = cbor2.loads(changes)
    except (cbor2.CBORError, ValueError) as error:
        raise Unreadable(str(error)) from error
    if type(flat) is not list or not _VALUES.issuperset(map(type, flat)):
        raise Unreadable("it is no list of values")
    found: list[Change] = []
    at, end = 0, len(flat)
    while at < end:
        number, mask = flat[at], flat[at + 1] if at + 1 < end else None
        if type(number) is not int or type(mask) is not int or not 0 <= number < len(_SHAPES):
            raise Unreadable(f"there is no relation {number!r}")
        relation, key_count, width = _SHAPES[number]
        key_at, values_at = at + 2, at + 2 + key_count
        if mask == NEW:
            at = key_at + width
        elif GONE <= mask < 1 << width:
            at = values_at + (0 if mask == GONE else mask.bit_count())
        else:
            raise Unreadable(f"{relation.name} has no columns {mask}")
        if at > end:
            raise Unreadable("it is cut off")
        values = flat[values_at:at]
        while None in values:  # once or twice in a row
            values[values.index(None)] = commit_ms
        found.append((relation, tuple(flat[key_at:values_at]), mask, tuple(values)))
    return found


def with_changes(row: Row, mask: int, values: tuple[Any, ...]) -> Row:
    """The row with the values that the mask names."""
    changed = list(row)
    for at, place in enumerate(_places(mask)):
        changed[place] = values[at]
    return tuple(changed)


@lru_cache(maxsize=1024)
def _mask(differs: tuple[bool, ...]) -> int:
    return sum(1 << place for place, each in enumerate(differs) if each)


@lru_cache(maxsize=1024)
def _places(mask: int) -> tuple[int, ...]:
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)
