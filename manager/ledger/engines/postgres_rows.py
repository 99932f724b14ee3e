"""Rows as PostgreSQL takes them on the wire: one binary array of a table's row type for a relation.

Packed here, because psycopg's own lists cost several times the CPU. It alone knows that form: an
array is its dimensions, its element's type and the elements, each with its length; an element is
the number of its columns, and each column's type, length and bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import add
from typing import Any

import psycopg
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

from manager.ledger.engines.relations import BLOB, INTEGER, TEXT, Relation, Row

COPY_TYPES = {INTEGER: "int8", TEXT: "text", BLOB: "bytea"}
OIDS = {INTEGER: 20, TEXT: 25, BLOB: 17}
_LENGTH = struct.Struct("!i")
_INTEGER = struct.Struct("!iiq")
_HEAD = struct.Struct("!ii")
_ARRAY = struct.Struct("!iiIii")
_INTEGER_BYTES = 8
_NOTHING = -1

Pack = Callable[[Sequence[Any]], Iterator[bytes]]  # the values of one column


class PackedRows:
    """An array that is in its binary form already."""

    __slots__ = ("value",)

    def __init__(self, value: bytes) -> None:
        self.value = value


class RowPacker:
    """Packs rows of one relation. `row_oid` is how this database numbers the table's row type."""

    def __init__(self, relation: Relation, row_oid: int) -> None:
        self._row_oid = row_oid
        self._key_count = relation.key_count
        self._count = _LENGTH.pack(len(relation.types))
        self._columns = [_PACKERS[kind] for kind in relation.types.values()]
        rest = list(relation.types.values())[relation.key_count :]
        self._no_rest = b"".join(_HEAD.pack(OIDS[kind], _NOTHING) for kind in rest)
        # New rows, and those that went: an append-only relation has none of these.
        self.nothing = (self._array([]),) * (1 if relation.append_only else 2)

    def rows(self, rows: Iterable[Row]) -> PackedRows:
        return self._array(self._elements(list(rows), b""))

    def keys(self, keys: Iterable[Row]) -> PackedRows:
        """Rows of which only the key is told."""
        return self._array(self._elements(list(keys), self._no_rest))

    def _elements(self, rows: list[Row], rest: bytes) -> list[bytes]:
        """Column by column, so that no value costs a call of Python: a batch has thousands."""
        values = zip(self._columns, zip(*rows, strict=True), strict=False)
        columns = [pack(column) for pack, column in values]
        counts, rests = [self._count] * len(rows), [rest] * len(rows)
        return list(map(b"".join, zip(counts, *columns, rests, strict=True)))

    def _array(self, elements: list[bytes]) -> PackedRows:
        if not elements:
            return PackedRows(struct.pack("!iiI", 0, 0, self._row_oid))
        head = _ARRAY.pack(1, 0, self._row_oid, len(elements), 1)
        lengths = map(_LENGTH.pack, map(len, elements))
        parts = chain.from_iterable(zip(lengths, elements, strict=True))
        return PackedRows(head + b"".join(parts))


def register(connection: psycopg.Connection) -> None:
    """Lets this connection take rows that are packed already."""
    connection.adapters.register_dumper(PackedRows, _PackedDumper)


class _PackedDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: PackedRows) -> Buffer:
        return obj.value


def _integers(values: Sequence[int]) -> Iterator[bytes]:
    return map(_INTEGER.pack, repeat(OIDS[INTEGER]), repeat(_INTEGER_BYTES), values)


def _texts(values: Sequence[str]) -> Iterator[bytes]:
    return _with_heads(OIDS[TEXT], list(map(str.encode, values)))


def _blobs(values: Sequence[bytes]) -> Iterator[bytes]:
    return _with_heads(OIDS[BLOB], values)


def _with_heads(oid: int, values: Sequence[bytes]) -> Iterator[bytes]:
    return map(add, map(_HEAD.pack, repeat(oid), map(len, values)), values)


_PACKERS: dict[str, Pack] = {INTEGER: _integers, TEXT: _texts, BLOB: _blobs}
