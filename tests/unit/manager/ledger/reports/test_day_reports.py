"""A day's report says what stood at the day's end, whatever has happened since."""

from __future__ import annotations

from manager.ledger.reports.day_reports import day_report, day_steps
from manager.ledger.reports.gaming_day import GamingDay
from protocol.wire.messages import Committed
from tests.kit.pretend_books import CENT, TERMS, Books, document
from tests.kit.pretend_units import OPENING_MS, only

DAY = GamingDay("06:00")
FIRST = DAY.of(OPENING_MS)


def next_day(books: Books) -> None:
    books.clock.ms = DAY.bounds_ms(FIRST)[1]


def test_what_was_owed_at_the_end_of_a_day_stays_so_after_it_was_paid(books: Books) -> None:
    """Catches: a report of yesterday that changes when yesterday's win is handed over today."""
    books.open(document(workflow="keypad", jackpots={"main": TERMS}))
    books.open(document("t2"), "t2")
    books.start("touch-1", 1, "1A")
    books.start("t2", 1, "2A")
    award = books.receive_award("touch-1", books.claim("touch-1", 1, 1, True, s1A="four-aces"))
    books.win("t2", 1, 1, s2A="four-aces")  # so that the first one has left the meter
    owed = award.lines[0].amount_cents * CENT
    assert day_report(books.manager.book, FIRST, DAY).owed_microcents == owed
    next_day(books)
    only(books.by_key("touch-1", 1, 1), Committed)
    assert day_report(books.manager.book, FIRST, DAY).owed_microcents == owed
    assert day_report(books.manager.book, DAY.of(books.clock.ms), DAY).owed_microcents == 0


def test_the_progress_of_a_report_begins_at_the_day_and_not_at_the_ledger(books: Books) -> None:
    """Catches: a bar that stands at nine tenths from the start, because the ledger is old."""
    books.open(document())
    for number in range(1, 6):
        books.start("touch-1", number, "1A")
        books.end("touch-1", number)
    next_day(books)
    books.start("touch-1", 6, "1A")
    done = list(day_steps(books.manager.book, DAY.of(books.clock.ms), DAY))
    assert done[0] == 0.0
    assert done == sorted(done)
    assert max(done) <= 1.0
