"""A day's wins by where they were paid from, and what was taken back in that day."""

from __future__ import annotations

import pytest

from manager.ledger.reports import day_wins
from manager.ledger.reports.day_wins import TRAY, PaidDay, WinsOfDay
from tests.kit.pretend_books import LEVELS, TERMS, Books, document, game

TABLE = "touch-1"


@pytest.fixture
def played(books: Books) -> Books:
    """Win 1 from both meters, the tray and with envy; win 2 from the tray alone."""
    terms = TERMS | {"contribution_ppm": 0, "reserve_ppm": 0}
    jackpots = {"top": terms, "low": terms | {"opening": "50.00", "seed": "20.00"}}
    books.open(document(jackpots=jackpots, games={"A": game(LEVELS.id, mega="top", minor="low")}))
    books.start(TABLE, 1, "1A", "2A", "3A", "5A", "6A")
    books.paid(1, _6A="tenth", _5A="minor", _3A="fifty")
    books.paid(2, _2A="fifty")
    books.end(TABLE, 1)
    return books


def counted(books: Books, first_ms: int, end_ms: int) -> list[PaidDay]:
    wins = WinsOfDay(books.manager.book, first_ms, end_ms)
    for _ in wins.count():
        pass
    return wins.rows()


def win_ms(books: Books, number: int) -> int:
    win = books.manager.book.wins.find(number)
    assert win is not None
    return win.commit_ms


def test_each_source_has_its_own_sum(played: Books) -> None:
    """Catches: envy or a fixed pay that is counted as a meter's, or twice."""
    first = win_ms(played, 1)
    envy = 4 * 500
    assert counted(played, first, first + 1) == [
        PaidDay(TABLE, TRAY, 1, 5_000, 4, envy),
        PaidDay(TABLE, "low", 1, 5_000),
        PaidDay(TABLE, "top", 1, 10_000),
    ]


@pytest.mark.parametrize("step", [1, 2, 500])
def test_a_day_has_the_wins_from_its_first_moment_to_before_its_end(
    played: Books, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Catches: a win that is in two days, or in none, at their border; or lost between steps."""
    monkeypatch.setattr(day_wins, "STEP_WINS", step)
    first, second = win_ms(played, 1), win_ms(played, 2)

    def counts(first_ms: int, end_ms: int) -> int:
        return sum(row.award_count for row in counted(played, first_ms, end_ms))

    assert counts(first, second) == 3
    assert counts(first, second + 1) == 4
    assert counts(first + 1, second + 1) == 1
    assert counts(second + 1, second + 10**9) == 0


def test_what_was_taken_back_counts_in_the_day_of_the_reversal(played: Books) -> None:
    """Catches: a win of yesterday that changes yesterday's sums, or is not in today's."""
    before = counted(played, 0, played.clock.ms)
    reversal = played.reverse(1)
    back_ms = next(each.commit_ms for each, _ in played.store.recorded() if each.number == reversal)
    assert counted(played, 0, back_ms) == before
    today = [
        PaidDay(TABLE, TRAY, reversed_cents=5_000 + 4 * 500),
        PaidDay(TABLE, "low", reversed_cents=5_000),
        PaidDay(TABLE, "top", reversed_cents=10_000),
    ]
    assert counted(played, back_ms, back_ms + 1) == today
    assert counted(played, back_ms + 1, back_ms + 2) == []


def test_a_win_from_a_meter_alone_gives_the_tray_nothing_back(played: Books) -> None:
    """Catches: a line of the tray with nothing on it."""
    played.start(TABLE, 2, "1A")
    played.paid(3, 2, _1A="tenth")
    played.end(TABLE, 2)
    now_ms = played.clock.ms
    played.reverse(3)
    rows = counted(played, now_ms, played.clock.ms + 1)
    assert rows == [PaidDay(TABLE, "top", reversed_cents=9_000)]
