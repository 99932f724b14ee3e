"""Wins as they were booked, and what was taken back or recorded instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.ledger import wins as wins_module
from manager.ledger.corrections.replacement import record_instead
from manager.ledger.engines.relations import WIN_ENVY, WIN_LINES, WINS, Relation, Row, Where
from manager.ledger.store.ledger import Ledger
from manager.ledger.wins import WinsRead
from protocol.wire.rows import EnvyLine
from tests.kit.pretend_books import CENT, LEVELS, TERMS, TWO, Books, document, game

TABLE = "touch-1"


@pytest.fixture
def played(books: Books) -> Books:
    """Three rounds with a win each, an hour apart."""
    jackpots = {"top": TERMS, "low": TERMS | {"award_policy": "each_full"}}
    books.open(document(jackpots=jackpots, games={"A": game(LEVELS.id, mega="top", minor="low")}))
    for number, hand in enumerate(("minor", "mega", "fifty"), start=1):
        books.start(TABLE, number, "1A", "5A")
        books.clock.ms += 3_600_000
        books.paid(number, number, _5A=hand)
        books.end(TABLE, number)
    return books


def numbers(found: list[wins_module.Win]) -> list[int]:
    return [win.number for win in found]


def test_wins_are_numbered_without_a_gap_and_found_newest_first(played: Books) -> None:
    """Catches: a win number that is left out, as if a win had been removed from the books."""
    wins = played.manager.book.wins
    assert numbers(wins.newest(9)) == [3, 2, 1]
    assert numbers(wins.newest(2)) == [3, 2]
    assert numbers(wins.newest_of(TABLE, 1)) == [3]
    assert wins.newest_of("t2", 9) == []
    assert numbers(wins.of_round(TABLE, 2)) == [2]
    assert wins.find(4) is None


def test_a_win_says_what_was_paid_from_where_and_by_which_policy(played: Books) -> None:
    win = played.manager.book.wins.find(2)
    assert win is not None
    assert (win.table_id, win.claim_number, win.round_number, win.frozen) == (TABLE, 2, 2, False)
    (line,) = win.lines
    assert (line.sensor, line.hand, line.hand_label, line.meter_id) == ("5A", "mega", "Mega", "top")
    assert line.meter_before_cents == line.amount_cents
    assert line.meter_after_cents >= 100_000, "reseeded"
    assert win.envy == (EnvyLine("1A", 10_000),)
    for relation in (WIN_LINES, WIN_ENVY):
        assert [row[1] for row in played.store.find(relation, {"win_number": 2})] == [1]
    assert win.policies == (("top", "sequential"),)
    first = played.manager.book.wins.find(1)
    assert first is not None
    assert first.policies == (("low", "each_full"),)


def test_the_first_win_of_a_moment_is_found(played: Books) -> None:
    """Catches: a day's report with a win of the day before, or without its own first one."""
    wins = played.manager.book.wins
    times = [win.commit_ms for win in reversed(wins.newest(3))]
    for number, time_ms in enumerate(times, start=1):
        assert wins.first_from(time_ms - 1) == number
        assert wins.first_from(time_ms) == number
        assert wins.first_from(time_ms + 1) == number + 1


def test_without_a_win_the_first_one_is_still_to_come(books: Books) -> None:
    assert books.manager.book.wins.first_from(0) == 1


def test_a_win_that_is_taken_back_and_the_one_instead_name_each_other(played: Books) -> None:
    """Catches: a page on which a reversed jackpot looks paid, or paid twice."""
    book = played.manager.book
    reversal = played.reverse(2)
    assert book.wins.reversed_numbers(TABLE, 2) == {2}
    assert book.wins.reversed_numbers(TABLE, 1) == set()
    record_instead(book, 2, TWO)
    old, new = book.wins.find(2), book.wins.find(4)
    assert old is not None
    assert new is not None
    assert (old.reversed_by > 0, old.replaces, old.replaced_by) == (True, 0, 4)
    assert (new.reversed_by, new.replaces, new.replaced_by) == (0, 2, 0)
    assert reversal


def test_pages_keep_only_so_many_wins_in_memory(
    played: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a manager that needs more memory with each win somebody has looked at."""
    monkeypatch.setattr(wins_module, "KEPT_MAX", 2)
    wins = WinsRead(played.store)
    before = numbers(wins.newest(3))
    assert len(wins._kept) <= 2
    assert numbers(wins.newest(3)) == before


class HalfWritten:
    """A ledger in the middle of a step: the win's one line is replaced before the step stands."""

    def __init__(self) -> None:
        self.is_in_step = True
        self.amount_cents = 100

    def get(self, relation: Relation, number: int) -> Row | None:
        return (number, TABLE, 1, 1, 5, 2, "Ann", 2, 0) if relation is WINS else None

    def find(self, relation: Relation, _where: Where) -> list[Row]:
        line = (1, 1, "5A", "mega", "Mega", self.amount_cents, "top", 1, 0, 0)
        return [line] if relation is WIN_LINES else []


def test_what_a_step_may_still_take_back_is_not_remembered() -> None:
    """Catches: a page with the amount of a win that was refused and recorded anew."""
    ledger = HalfWritten()
    wins = WinsRead(ledger)  # type: ignore[arg-type]

    def paid() -> int:
        win = wins.find(1)
        assert win is not None
        return win.lines[0].amount_cents

    assert paid() == 100
    ledger.amount_cents, ledger.is_in_step = 200, False
    assert paid() == 200


def test_a_win_that_was_fixed_at_its_claim_says_what_it_was_measured_on(books: Books) -> None:
    """Catches: a page that explains an amount by the meter of another moment."""
    terms = TERMS | {"contribution_ppm": 0, "reserve_ppm": 0, "freeze_claims": True}
    jackpots = {"top": terms, "low": terms}
    books.open(document(jackpots=jackpots, games={"A": game(LEVELS.id, mega="top", minor="low")}))
    books.start(TABLE, 1, "1A", "5A")
    books.paid(_5A="tenth", _1A="fifty")
    wins = books.manager.book.wins
    win = wins.find(1)
    assert win is not None
    assert wins.claimed_on(win) == {"5A": 100_000 * CENT}
    assert wins.claimed_on(replace(win, frozen=False)) == {}
    assert wins.claimed_on(replace(win, claim_number=2)) == {}, "that one was never logged"


def test_what_is_read_from_a_file_is_not_taken_back(played: Books) -> None:
    """Catches: wins that are read anew each time, because somebody might take them back."""
    assert not Ledger(played.store.engine.reader()).is_in_step
