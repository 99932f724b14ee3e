"""Rows out of pages, without SQLite: what is believed, and how much."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

import pytest

from controller.journal.recovery.sqlite_pages import (
    COLUMNS_MAX,
    COMMITTED,
    FIRST_PAGE_HEADER_BYTES,
    FOLDED,
    FRAME_HEADER_BYTES,
    LEAF,
    LEFT_OVER,
    PAGE_BYTES,
    PAYLOAD_MAX_BYTES,
    WAL_HEADER_BYTES,
    rows_of,
)

VALUES: tuple[tuple[int | bytes | str | None, ...], ...] = (
    (0, 1, -1, 127, -128),
    (128, -129, 32_767, -32_768, 2**23 - 1),
    (-(2**23), 2**31 - 1, -(2**31), 2**47 - 1, -(2**47)),
    (2**63 - 1, -(2**63), None, b"", ""),
    (b"\x00\xff", "späť", b"x" * 200, "y" * 300, None),
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path: Path = tmp_path_factory.mktemp("pages") / "file"
    with sqlite3.connect(path) as file:
        file.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        file.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, e)")
        for number, row in enumerate(VALUES, 1):
            file.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", (number * 1000, *row))
    file.close()
    return path.read_bytes()


def data_page_at(database: bytes) -> int:
    (start,) = (at for at in range(PAGE_BYTES, len(database), PAGE_BYTES) if database[at] == LEAF)
    return start


def test_every_kind_of_value_comes_back_as_it_was_written(database: bytes) -> None:
    found = {row.rowid: row for row in rows_of(database, b"") if row.rowid >= 1000}
    assert {rowid: row.values[1:] for rowid, row in found.items()} == {
        number * 1000: values for number, values in enumerate(VALUES, 1)
    }
    assert {row.values[0] for row in found.values()} == {None}, "the rowid stands for the key"
    assert {row.rank for row in found.values()} == {FOLDED}


def test_the_first_page_begins_after_the_files_own_header(database: bytes) -> None:
    assert database[FIRST_PAGE_HEADER_BYTES] == LEAF
    schema = [row for row in rows_of(database[:PAGE_BYTES], b"") if row.values[0] == "table"]
    assert [row.values[1] for row in schema] == ["t"]


def test_a_page_without_its_header_is_searched_and_believed_least(database: bytes) -> None:
    """Catches: its list of cells read all the same, and its rows believed as a whole page is."""
    damaged = bytearray(database)
    damaged[data_page_at(database)] = 0x77
    found = [row for row in rows_of(bytes(damaged), b"") if row.values[1:] in VALUES]
    assert {row.rowid for row in found} == {number * 1000 for number in range(1, 6)}
    assert {row.rank for row in found} == {LEFT_OVER}


@pytest.mark.parametrize("kind", [0x00, 0x02, 0x05, 0x0A])
def test_pages_of_another_kind_hold_no_rows(database: bytes, kind: int) -> None:
    damaged = bytearray(database)
    damaged[data_page_at(database)] = kind
    assert not [row for row in rows_of(bytes(damaged), b"") if row.rowid >= 1000]


def test_a_page_that_ends_early_holds_no_rows(database: bytes) -> None:
    cut = database[: data_page_at(database) + PAGE_BYTES - 1]
    assert not [row for row in rows_of(cut, b"") if row.rowid >= 1000]


def test_a_count_of_cells_that_cannot_be_is_no_trouble(database: bytes) -> None:
    damaged = bytearray(database)
    at = data_page_at(database)
    damaged[at + 3 : at + 5] = b"\xff\xff"
    found = [row for row in rows_of(bytes(damaged), b"") if row.values[1:] in VALUES]
    assert {row.rowid for row in found} == {number * 1000 for number in range(1, 6)}


LOGGED = 12


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A database and its log of twelve commits, as a power cut leaves them."""
    path: Path = tmp_path_factory.mktemp("log") / "file"
    file = sqlite3.connect(path, isolation_level=None)
    file.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA wal_autocheckpoint = 0")
    file.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    for number in range(1, LOGGED + 1):
        file.execute("INSERT INTO t VALUES (?, ?)", (1000 * number, f"{number}" * 900))
    files = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    file.close()
    return files


def believed_by_sqlite(folder: Path, database: bytes, log: bytes) -> set[int]:
    path = folder / "file"
    path.write_bytes(database)
    Path(f"{path}-wal").write_bytes(log)
    file = sqlite3.connect(path)
    try:
        return {rowid for (rowid,) in file.execute("SELECT id FROM t")}
    except sqlite3.OperationalError:  # not even the table is there
        return set()
    finally:
        file.close()


# Within a frame: its page's number, the size after a commit, both salts, both sums, the page.
@pytest.mark.parametrize("place", [3, 5, 7, 8, 15, 16, 23, 24, FRAME_HEADER_BYTES + PAGE_BYTES - 1])
@pytest.mark.parametrize("frame", [0, 6, 11])
def test_of_a_damaged_log_as_much_is_believed_as_sqlite_does(
    logged: tuple[bytes, bytes], tmp_path: Path, frame: int, place: int
) -> None:
    """Catches: frames behind a wrong sum or another log's salt that are believed after all."""
    database, log = logged
    damaged = bytearray(log)
    damaged[WAL_HEADER_BYTES + frame * (FRAME_HEADER_BYTES + PAGE_BYTES) + place] ^= 1
    ours = {row.rowid for row in rows_of(b"", bytes(damaged)) if row.rank == COMMITTED}
    assert ours & set(range(1000, 13_000)) == believed_by_sqlite(tmp_path, database, bytes(damaged))


def test_of_a_whole_log_everything_is_believed(logged: tuple[bytes, bytes], tmp_path: Path) -> None:
    database, log = logged
    everything = {1000 * number for number in range(1, LOGGED + 1)}
    assert believed_by_sqlite(tmp_path, database, log) == everything
    ours = {row.rowid for row in rows_of(b"", log) if row.rank == COMMITTED}
    assert everything <= ours
    cut = log[:-1]  # the last commit is not whole
    ours = {row.rowid for row in rows_of(b"", cut) if row.rank == COMMITTED}
    assert ours & everything == believed_by_sqlite(tmp_path, database, cut) < everything


# ---- one cell at a time ----


def read_cell(cell: bytes, cell_at: int = 16) -> list[tuple[int, tuple[object, ...]]]:
    """The rows of a file whose second page has this cell and no other."""
    page = bytearray(PAGE_BYTES)
    page[0], page[3:5], page[8:10] = LEAF, (1).to_bytes(2, "big"), cell_at.to_bytes(2, "big")
    page[cell_at : cell_at + len(cell)] = cell
    found = rows_of(bytes(PAGE_BYTES) + bytes(page[:PAGE_BYTES]), b"")
    return [(row.rowid, row.values) for row in found]


def cell_of(payload: bytes) -> bytes:
    return bytes([len(payload), 5]) + payload


ZERO, ONE, FLOAT, EIGHT_BYTES, BLOB, TEXT = 8, 9, 7, 6, 12, 13
LONG_ROWID = b"\xc0" + b"\x80" * 7 + b"\x07"  # seven bits a byte, and eight in the ninth


def test_a_cell_is_a_row() -> None:
    assert read_cell(cell_of(bytes([3, ZERO, ONE]))) == [(5, (0, 1))]
    assert read_cell(cell_of(bytes([2, EIGHT_BYTES]) + b"\xff" * 8)) == [(5, (-1,))]
    assert read_cell(cell_of(bytes([3, BLOB + 4, TEXT + 4]) + b"abcd")) == [(5, (b"ab", "cd"))]
    assert read_cell(bytes([2]) + LONG_ROWID + bytes([2, ONE])) == [(1 << 63 | 7, (1,))]


@pytest.mark.parametrize(
    "payload",
    [
        bytes([2, 0x81, ONE]),  # the header ends within a number
        bytes([2, FLOAT]) + bytes(8),
        bytes([2, 10]),
        bytes([2, 11]),
        bytes([2, EIGHT_BYTES]) + bytes(7),
        bytes([2, BLOB + 6]) + bytes(2),
        bytes([2, TEXT + 2]) + b"\xff",
        bytes([9, ZERO, ZERO]),  # the header is longer than all of it
    ],
)
def test_what_cannot_be_a_row_is_none(payload: bytes) -> None:
    """Catches: a lying header whose leftovers are read as values."""
    assert read_cell(cell_of(payload)) == []


def test_no_row_of_ours_has_more_columns() -> None:
    most = bytes([COLUMNS_MAX + 1] + [ZERO] * COLUMNS_MAX)
    assert read_cell(cell_of(most)) == [(5, (0,) * COLUMNS_MAX)]
    assert read_cell(cell_of(bytes([COLUMNS_MAX + 2] + [ZERO] * (COLUMNS_MAX + 1)))) == []


def test_a_row_ends_with_its_page_at_the_latest() -> None:
    row = cell_of(bytes([2, BLOB + 20]) + bytes(10))
    assert len(read_cell(row, PAGE_BYTES - len(row))) == 1
    assert read_cell(row, PAGE_BYTES - len(row) + 1) == []


@pytest.mark.parametrize(("more", "count"), [(0, 1), (1, 0)])
def test_a_longer_row_goes_on_in_another_page_and_is_not_read(more: int, count: int) -> None:
    size = PAYLOAD_MAX_BYTES + more
    head = bytes([0x80 | size >> 7, size & 0x7F, 5])
    kind = BLOB + 2 * (size - 3)
    payload = bytes([3, 0x80 | kind >> 7, kind & 0x7F]) + bytes(size - 3)
    assert len(read_cell(head + payload, 12)) == count


def test_a_row_that_claims_to_go_on_behind_its_page_is_none() -> None:
    """Although all of its values would be there."""
    payload = bytes([2, ONE])
    cell = bytes([len(payload) + 40, 5]) + payload
    assert read_cell(cell, PAGE_BYTES - len(cell)) == []


def summed_big_endian(log: bytes) -> bytes:
    """The same log as a machine with the other order of bytes writes it."""
    again = bytearray(log)
    again[3] |= 1  # the last bit of its first number says which order
    sums = summed(bytes(again[:24]), (0, 0))
    struct.pack_into(">II", again, 24, *sums)
    for start in range(WAL_HEADER_BYTES, len(log), FRAME_HEADER_BYTES + PAGE_BYTES):
        page_at = start + FRAME_HEADER_BYTES
        sums = summed(bytes(again[start : start + 8]), sums)
        sums = summed(bytes(again[page_at : page_at + PAGE_BYTES]), sums)
        struct.pack_into(">II", again, start + 16, *sums)
    return bytes(again)


def summed(data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    for even, odd in struct.iter_unpack(">II", data):
        first = (first + even + second) % 2**32
        second = (second + odd + first) % 2**32
    return first, second


def test_a_log_of_a_machine_with_the_other_order_of_bytes_is_believed_as_sqlite_does(
    logged: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """Catches: a whole log of which nothing is believed, because its sums were read turned."""
    database, log = logged
    turned = summed_big_endian(log)
    everything = {1000 * number for number in range(1, LOGGED + 1)}
    assert believed_by_sqlite(tmp_path, database, turned) == everything
    assert everything <= {row.rowid for row in rows_of(b"", turned) if row.rank == COMMITTED}
