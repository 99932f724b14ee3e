"""Rounds faster than people can deal: where exactly the limit is, and from what it is counted."""

from __future__ import annotations

import pytest

from manager.intake.pace import HOUR_MS, LOOKED_AT, Pace
from manager.ledger.corrections.reasons import Signed
from manager.ledger.corrections.restore import accept_restore
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Error
from tests.kit.pretend_books import Books, document

TABLE = "touch-1"
PER_HOUR = 240
WITHIN_MS = LOOKED_AT * HOUR_MS // PER_HOUR


def opened(limit: int = PER_HOUR) -> Books:
    books = Books()
    books.open(document(policy={"rounds_per_hour_max": limit}))
    return books


def play(books: Books, number: int) -> list[int]:
    """The codes of what was refused."""
    outcome = books.start(TABLE, number, "1A")
    books.end(TABLE, number)
    books.clock.ms += 1_000
    return [each.code for each in outcome.answers if isinstance(each, Error)]


def started_ms(books: Books, number: int) -> int:
    return books.manager.book.rounds.get(TABLE, number).started_ms


@pytest.mark.parametrize("restarts", [False, True])
def test_eleven_rounds_take_at_least_the_time_of_ten(restarts: bool) -> None:
    books = opened()
    for number in range(1, LOOKED_AT + 1):
        assert play(books, number) == []
    if restarts:  # what it had counted is gone, and the books know it
        books.manager.intake._handlers.rounds._pace._kept.clear()
    assert play(books, LOOKED_AT + 1) == [ErrorCode.WAGER]
    books.clock.ms = started_ms(books, 1) + WITHIN_MS - 2  # the clock adds one when it is read
    assert play(books, LOOKED_AT + 1) == [ErrorCode.WAGER]
    books.clock.ms = started_ms(books, 1) + WITHIN_MS
    assert play(books, LOOKED_AT + 1) == []
    books.clock.ms = started_ms(books, 2) + WITHIN_MS - 2
    assert play(books, LOOKED_AT + 2) == [ErrorCode.WAGER], "counted from the second round now"
    books.clock.ms = started_ms(books, 2) + WITHIN_MS
    assert play(books, LOOKED_AT + 2) == []


def test_without_a_limit_nothing_is_too_fast() -> None:
    books = opened(limit=0)
    for number in range(1, 3 * LOOKED_AT):
        assert play(books, number) == []


def test_each_table_has_its_own_pace() -> None:
    books = opened()
    books.open(document("touch-2", policy={"rounds_per_hour_max": PER_HOUR}), "touch-2")
    for number in range(1, LOOKED_AT + 1):
        assert play(books, number) == []
    assert books.start("touch-2", 1, "1A").answers == []


def test_the_same_start_can_be_asked_about_twice() -> None:
    """Catches: a second look at a table with one round so far that falls over."""
    books = opened()
    play(books, 1)
    book = books.manager.book
    pace = Pace(book)
    for _ in range(2):
        pace.check(book.tables.rules(TABLE), 2)


def test_a_start_that_is_refused_counts_nothing_and_costs_nothing() -> None:
    """Catches: rounds counted twice, or looked for where there is only one."""
    books = opened()
    assert play(books, 1) == []
    for _ in range(3):
        assert books.start(TABLE, 9, "1A").answers
    for number in range(2, LOOKED_AT + 1):
        assert play(books, number) == []
    assert play(books, LOOKED_AT + 1) == [ErrorCode.WAGER]


def test_a_long_round_counts_from_its_start_after_a_restart_as_well() -> None:
    """Catches: a table refused as too fast, because a long round was counted from its end."""
    books = opened()
    books.start(TABLE, 1, "1A")
    books.clock.ms += WITHIN_MS
    books.end(TABLE, 1)
    for number in range(2, LOOKED_AT + 1):
        assert play(books, number) == []
    Pace(books.manager.book).check(books.manager.book.tables.rules(TABLE), LOOKED_AT + 1)


def test_what_is_sent_to_a_restored_ledger_again_comes_as_fast_as_it_can() -> None:
    """Catches: rounds that people played, and that a ledger from a backup refuses as too fast."""
    books = opened()
    accept_restore(books.manager.book, Signed("Ann", "Bob", "the disk burnt"))
    unit = books.units[TABLE]
    again = 2 * LOOKED_AT + 2  # the START and the END of so many rounds were acknowledged before
    known = books.manager.units.greet(unit.hello())
    books.manager.intake.greeted(known, unit.hello(acked_sequence=again))
    for number in range(1, LOOKED_AT + 2):
        assert play(books, number) == []
    assert play(books, LOOKED_AT + 2) == [ErrorCode.WAGER], "this one was never acknowledged"
