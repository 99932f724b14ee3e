"""What a meter showed, told back from now: every step, every win, and no more than is asked for."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from manager.web.floor import history as told
from manager.web.floor.history import HOUR_MS, History, Moment
from manager.web.floor.plot import svg
from tests.kit.pretend_books import Books, document

START_MS = 1_794_700_000_000


class Clock:
    ms = START_MS

    def __call__(self) -> int:
        return self.ms


@pytest.fixture
def books() -> Books:
    clock = Clock()
    books = Books(clock=clock)
    books.open(document())
    for number in range(1, 5):
        clock.ms += HOUR_MS
        books.start("touch-1", number, "1A", "2A")
        clock.ms += 1000
        if number == 3:
            books.win("touch-1", number, 1, s1A="four-aces")
        books.end("touch-1", number)
    return books


def history_of(books: Books, span_ms: int) -> History:
    now_ms = books.manager.store.now_ms
    return asyncio.run(told.history(books.manager.book, "main", span_ms, now_ms))


def test_each_step_is_told_and_it_ends_with_what_is_shown(books: Books) -> None:
    """Catches: an award and its reseed told apart, as if the meter had shown nothing between."""
    found = history_of(books, 24 * HOUR_MS)
    cents = [each.cents for each in found.moments]
    assert cents[0] == 100_000  # from its opening on: there was no meter before
    assert cents[:4] == [100_000, 100_050, 100_100, 100_150]
    assert cents[-1] == books.shown_on("main")
    assert min(cents) >= 100_000
    assert found.wins == (Moment(START_MS + 3 * HOUR_MS + 2000 + 1000, 100_150),)
    assert not found.is_cut


def test_a_span_begins_with_what_was_shown_then(books: Books) -> None:
    found = history_of(books, 2 * HOUR_MS + 500_000)
    assert found.moments[0] == Moment(found.first_ms, 100_050)


def test_a_meter_with_too_many_entries_says_where_it_begins(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told, "ROWS_MAX", 2)
    monkeypatch.setattr(told, "STEP_ROWS", 1)
    found = history_of(books, 24 * HOUR_MS)
    assert found.is_cut
    assert found.first_ms > found.end_ms - 24 * HOUR_MS
    assert found.moments[-1].cents == books.shown_on("main")


def test_a_thinned_plot_keeps_the_lowest_and_the_highest() -> None:
    """Catches: a drop to the seed that falls between two points of the picture."""
    moments = [Moment(time_ms, 500) for time_ms in range(10_000)]
    moments[5003] = Moment(5003, 7)
    moments[5004] = Moment(5004, 900)
    kept = told._thinned(moments, 0, 10_000)
    assert len(kept) <= told.POINTS_MAX + 4
    assert {7, 900} <= {each.cents for each in kept}


def test_the_plot_is_escaped_and_marks_each_win() -> None:
    found = History(0, HOUR_MS, (Moment(0, 100), Moment(HOUR_MS, 700)), (Moment(9, 500),), False)
    picture = svg("<b>Mega", found, lambda ms: datetime.fromtimestamp(ms / 1000, UTC))
    assert "<b>" not in picture
    assert picture.count("<circle") == 1
    assert "Win from $5.00" in picture
    assert "style=" not in picture  # which the pages' policy forbids


def test_a_meter_that_never_moved_is_a_flat_line() -> None:
    found = History(0, HOUR_MS, (Moment(0, 100), Moment(HOUR_MS, 100)), (), False)
    assert "<polyline" in svg("Mega", found, lambda ms: datetime.fromtimestamp(ms / 1000, UTC))
