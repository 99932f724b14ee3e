"""Rows of archived days and rows that a database kept, put together without a gap or a double."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.ledger.engines.archived_rows import ArchivedRows
from manager.ledger.engines.archives import archive_path, write_archive
from manager.ledger.engines.relations import ALARMS, EVENTS, POSTINGS, Relation, Row

ALL = "SELECT * FROM postings ORDER BY transaction_number, position"
NEWEST = "SELECT * FROM postings ORDER BY transaction_number DESC, position LIMIT ?"


def transaction(number: int) -> Row:
    """One that took in event 7 of its unit."""
    place = (number, "WAGER", "T1", 1, "2A", 0, "", "{}", 1)
    return (*place, "U1", 7, 1, 1, bytes(32), b"j" * 16, 2, b"body", b"", bytes(32))


def open_files(folder: Path) -> list[str]:
    links = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return [link for link in links if link.startswith(str(folder))]


def posting(number: int) -> Row:
    return (number, 1, "cash", number)


@pytest.fixture
def archived(tmp_path: Path) -> Iterator[ArchivedRows]:
    """Two files, with transactions 1 to 2 and 3 to 4."""
    for first, last in ((1, 2), (3, 4)):
        rows = [posting(number) for number in range(first, last + 1)]
        events = [transaction(1)] if first == 1 else []
        write_archive(archive_path(tmp_path, first, last), events, rows)
    archived = ArchivedRows(tmp_path)
    archived.open()
    yield archived
    archived.close()


def found(
    archived: ArchivedRows, own: list[int], newest: int | None = None, of: Relation = POSTINGS
) -> list[int]:
    rows = [posting(number) for number in own]
    query, values = (ALL, []) if newest is None else (NEWEST, [newest])
    return [row[0] for row in archived.with_own(of, rows, query, values, newest)]


def test_archived_rows_come_before_those_that_stayed(archived: ArchivedRows) -> None:
    """Catches: a report that lacks the days whose rows were moved to files."""
    assert found(archived, [5, 6]) == [1, 2, 3, 4, 5, 6]


def test_a_row_that_is_in_both_is_given_once(archived: ArchivedRows) -> None:
    """Catches: money counted twice after a power cut between a file and removing its rows."""
    assert found(archived, [4, 5]) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("newest", "own", "wanted"),
    [
        (2, [6, 5], [6, 5]),
        (3, [6, 5], [6, 5, 4]),
        (5, [6, 5], [6, 5, 4, 3, 2]),
        (9, [], [4, 3, 2, 1]),
        (4, [5, 4], [5, 4, 3, 2]),  # 4 is in both, and counts once
    ],
)
def test_the_newest_are_taken_from_the_newest_file_on(
    archived: ArchivedRows, newest: int, own: list[int], wanted: list[int]
) -> None:
    assert found(archived, own, newest) == wanted


def test_other_relations_are_not_asked_for_in_the_files(archived: ArchivedRows) -> None:
    assert found(archived, [7], of=ALARMS) == [7]


def test_events_are_found_in_the_transactions_that_took_them_in(archived: ArchivedRows) -> None:
    """Catches: a unit's journal that cannot be proven once its days were archived."""
    query = "SELECT * FROM events"
    (event,) = archived.with_own(EVENTS, [], query, [], None)
    assert event[:5] == ("U1", b"j" * 16, 7, 2, b"body")


def test_what_is_closed_holds_nothing(archived: ArchivedRows, tmp_path: Path) -> None:
    assert open_files(tmp_path)
    archived.close()
    assert not open_files(tmp_path)
    assert found(archived, [5]) == [5]
    without = ArchivedRows(None)
    without.open()
    assert found(without, [5]) == [5]
