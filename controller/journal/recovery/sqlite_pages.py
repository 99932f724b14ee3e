"""Reads rows out of a damaged SQLite file, page by page, without SQLite.

It alone knows how rows lie in pages and pages in the write-ahead log. It believes no index, no
header and no length: what cannot be a row is passed over. Whether a row is genuine is proven by its
digest elsewhere. Rows that go on in another page are not read; a journal record never does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

PAGE_BYTES: Final = 4096
LEAF: Final = 0x0D
OTHER_PAGES: Final = (0x00, 0x02, 0x05, 0x0A)  # unused or overflow, index and inner pages
ROW_BYTES_MIN: Final = 8
FIRST_PAGE_HEADER_BYTES: Final = 100
PAYLOAD_MAX_BYTES: Final = PAGE_BYTES - 35
COLUMNS_MAX: Final = 12

WAL_HEADER_BYTES: Final = 32
FRAME_HEADER_BYTES: Final = 24
WAL_MAGIC: Final = (0x377F0682, 0x377F0683)

Value = int | bytes | str | None

# How much a page is to be believed when two of them differ: what SQLite itself would read first.
COMMITTED, FOLDED, LEFT_OVER = 0, 1, 2


class Row(NamedTuple):
    rowid: int
    values: tuple[Value, ...]
    rank: int


def rows_of(database: bytes, log: bytes) -> Iterator[Row]:
    """Every row that can be read anywhere in the two files."""
    # The log first, because it is newer than the file. A page in both is read twice: rows are told
    # apart by their digests, and the rank says which copy wins.
    for page, rank in _log_pages(log):
        yield from _rows_in(page, 0, rank)
    for start in range(0, len(database), PAGE_BYTES):
        page = database[start : start + PAGE_BYTES]
        yield from _rows_in(page, FIRST_PAGE_HEADER_BYTES if start == 0 else 0, FOLDED)


def _log_pages(log: bytes) -> Iterator[tuple[bytes, int]]:
    frame_bytes = FRAME_HEADER_BYTES + PAGE_BYTES
    count = max(0, len(log) - WAL_HEADER_BYTES) // frame_bytes
    committed = _committed_frames(log, count)
    for number in range(count):
        start = WAL_HEADER_BYTES + number * frame_bytes
        page = log[start + FRAME_HEADER_BYTES : start + frame_bytes]
        yield page, COMMITTED if number < committed else LEFT_OVER


def _committed_frames(log: bytes, count: int) -> int:
    """How many frames SQLite would accept: up to the last commit before a sum that is wrong."""
    if count == 0 or struct.unpack_from(">I", log)[0] not in WAL_MAGIC:
        return 0
    order = ">" if struct.unpack_from(">I", log)[0] & 1 else "<"
    # Frames of an earlier log are still behind the end of this one. They carry other salts.
    salts = log[16:24]
    sums, committed = _sum(order, log[:24], (0, 0)), 0
    for number in range(count):
        start = WAL_HEADER_BYTES + number * (FRAME_HEADER_BYTES + PAGE_BYTES)
        page = log[start + FRAME_HEADER_BYTES : start + FRAME_HEADER_BYTES + PAGE_BYTES]
        sums = _sum(order, page, _sum(order, log[start : start + 8], sums))
        kept = struct.unpack_from(">II", log, start + 16)
        if log[start + 8 : start + 16] != salts or kept != sums:
            break
        # The size of the file after a commit; zero in every frame that is not the last of one.
        if struct.unpack_from(">I", log, start + 4)[0]:
            committed = number + 1
    return committed


def _sum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    # SQLite's own sum: each half depends on the other, so no two words can change places unseen.
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second


def _rows_in(page: bytes, header_at: int, rank: int) -> Iterator[Row]:
    if len(page) < PAGE_BYTES or page[header_at] in OTHER_PAGES:
        return
    if page[header_at] != LEAF:
        # The header is gone, the rows may not be: each place could begin one.
        for cell_at in range(PAGE_BYTES - ROW_BYTES_MIN):
            if page[cell_at] and (row := _row_at(page, cell_at, LEFT_OVER)):
                yield row
        return
    (cell_count,) = struct.unpack_from(">H", page, header_at + 3)
    pointers_at = header_at + 8
    for number in range(min(cell_count, (PAGE_BYTES - pointers_at) // 2)):
        (cell_at,) = struct.unpack_from(">H", page, pointers_at + 2 * number)
        row = _row_at(page, cell_at, rank)
        if row is not None:
            yield row


def _row_at(page: bytes, cell_at: int, rank: int) -> Row | None:
    try:
        payload_bytes, at = _varint(page, cell_at)
        rowid, at = _varint(page, at)
        # A longer row would go on in another page. No record of ours is that long, so this is no
        # row.
        if payload_bytes > PAYLOAD_MAX_BYTES or at + payload_bytes > len(page):
            return None
        values = _values(page[at : at + payload_bytes])
    except (IndexError, ValueError):
        return None
    return Row(rowid, values, rank)


def _values(payload: bytes) -> tuple[Value, ...]:
    header_bytes, at = _varint(payload, 0)
    kinds: list[int] = []
    # What is no row may claim any number of columns: no more are read than a row of ours has.
    while at < header_bytes and len(kinds) <= COLUMNS_MAX:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if at != header_bytes or len(kinds) > COLUMNS_MAX:
        raise ValueError("not a row")
    values = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    return tuple(values)


_INTEGER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    # These two have no bytes at all: the kind itself says 0 or 1.
    if kind in (8, 9):
        return kind - 8, at
    size = _INTEGER_BYTES.get(kind, (kind - 12) // 2)
    if kind == 7 or size < 0 or at + size > len(payload):
        raise ValueError("not a value")
    data = payload[at : at + size]
    if kind in _INTEGER_BYTES:
        return int.from_bytes(data, "big", signed=True), at + size
    return (data if kind % 2 == 0 else data.decode()), at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    if data[at] < 0x80:
        return data[at], at + 1  # as nearly all of them
    value = 0
    # Seven bits a byte, and in the ninth byte all eight: so SQLite fits 64 bits into nine bytes.
    for _ in range(8):
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at
    return value << 8 | data[at], at + 1
