"""The archive of wins: every filter, pages, and a search that stops after so many and says so."""

from __future__ import annotations

import asyncio
import csv
import io

import pytest

from kit.web.csv_lines import csv_line
from manager.ledger.stamps import Stamp, put_stamp
from manager.web.archive import csv_file
from manager.web.archive import wins as archive
from manager.web.archive.filters import filters_of
from tests.kit.pretend_books import Books, document

DAY_MS = 24 * 3_600_000
START_MS = 1_794_700_000_000  # 2026-11-14


class Clock:
    ms = START_MS

    def __call__(self) -> int:
        return self.ms


@pytest.fixture(scope="module")
def books() -> Books:
    """Wins 1 to 4 on four days; 2 from the meter, 3 reversed, 4 at another table and stamped."""
    clock = Clock()
    books = Books(clock=clock)
    books.open(document())
    books.open(document("touch-2"), "touch-2")
    for number, hand in enumerate(("straight-flush", "four-aces", "straight-flush"), 1):
        clock.ms += DAY_MS
        books.start("touch-1", number, "1A", "2A")
        books.win("touch-1", number, number, s1A=hand)
        books.end("touch-1", number)
    books.reverse(3)
    clock.ms += DAY_MS
    books.start("touch-2", 1, "6A", "7A")
    books.win("touch-2", 1, 1, s7A="straight-flush")
    put_stamp(books.store, 4, Stamp.PAID, "Cage", "")
    return books


def found(books: Books, before: int = 0, **query: str) -> list[int]:
    page = asyncio.run(books.manager.view.archive.find(filters_of(query), before))
    return [win["number"] for win in page.wins]


@pytest.mark.parametrize(
    ("query", "wins"),
    [
        ({}, [4, 3, 2, 1]),
        ({"table": "touch-2"}, [4]),
        ({"meter": "main"}, [2]),
        ({"state": "reversed"}, [3]),
        ({"state": "standing"}, [4, 2, 1]),
        ({"state": "paid"}, [4]),
        ({"state": "unstamped"}, [3, 2, 1]),
        ({"least": "$1,000"}, [2]),
        ({"words": "FOUR ACES"}, [2]),
        ({"words": "7a"}, [4]),
        ({"words": "%"}, []),
        ({"since": "2026-11-17"}, [4, 3]),
        ({"until": "2026-11-15"}, [1]),
        ({"since": "2026-11-16", "until": "2026-11-17", "state": "standing"}, [2]),
        ({"since": "2027-01-01"}, []),
    ],
)
def test_each_filter_finds_its_wins(books: Books, query: dict[str, str], wins: list[int]) -> None:
    assert found(books, **query) == wins


def test_pages_follow_each_other_without_a_gap(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a page that leaves out or repeats the win at its edge."""
    monkeypatch.setattr(archive, "SHOWN_MAX", 2)
    first = asyncio.run(books.manager.view.archive.find(filters_of({})))
    assert ([win["number"] for win in first.wins], first.before) == ([4, 3], 3)
    second = asyncio.run(books.manager.view.archive.find(filters_of({}), first.before))
    assert ([win["number"] for win in second.wins], second.before) == ([2, 1], 0)


def test_a_long_search_stops_and_says_where(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LOOKED_THROUGH_MAX", 2)
    monkeypatch.setattr(archive, "STEP_WINS", 1)
    page = asyncio.run(books.manager.view.archive.find(filters_of({"words": "four aces"})))
    assert (page.wins, page.before, page.looked_to) == ([], 3, 3)
    assert found(books, page.before, words="four aces") == [2]


@pytest.mark.parametrize(
    ("name", "text"),
    [("since", "yesterday"), ("until", "0001-01-01"), ("least", "much"), ("state", "odd")],
)
def test_what_cannot_be_meant_is_told_at_its_field(name: str, text: str) -> None:
    assert list(filters_of({name: text}).problems) == [name]


def test_a_last_day_before_the_first_is_told() -> None:
    typed = {"since": "2026-11-16", "until": "2026-11-15"}
    assert "before the first" in filters_of(typed).problems["until"]


def test_csv_has_a_line_for_each_winner_and_each_envy(books: Books) -> None:
    async def lines() -> list[str]:
        each = books.manager.view.archive.each(filters_of({"meter": "main"}))
        return [csv_file.lines(win) async for win in each]

    text = csv_file.head() + "".join(asyncio.run(lines()))
    rows = list(csv.DictReader(io.StringIO(text)))
    award, envy = rows
    assert (award["what"], award["paid_from"], award["hand"]) == ("award", "main", "Four Aces")
    shown = books.manager.book.wins.find(2)
    assert shown is not None
    assert award["amount"] == f"{shown.lines[0].amount_cents / 100:.2f}"
    assert (envy["what"], envy["sensor"], envy["paid_from"]) == ("envy", "2A", "tray")
    assert award["gaming_day"] == "2026-11-16"


def test_no_cell_is_a_formula() -> None:
    """Catches: a table's name that a spreadsheet would carry out."""
    assert csv_line(["=1+1", "@x", "-12.50", -3, "plain, text"]) == (
        "'=1+1,'@x,-12.50,-3,\"plain, text\"\r\n"
    )
