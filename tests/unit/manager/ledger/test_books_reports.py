"""Gaming days, accrual that ties to the meters, what the bank must hold, counters."""

from __future__ import annotations

from datetime import date

import pytest

from manager.ledger.errors import LedgerError
from manager.ledger.reports import day_reports, day_wins
from manager.ledger.reports.bank import bank_covers, counts
from manager.ledger.reports.day_reports import DayReport, MeterDay, day_report
from manager.ledger.reports.gaming_day import GamingDay
from sim.floor import figures
from tests.kit.pretend_books import CENT, HOUSE, TERMS, Books, document
from tests.kit.pretend_units import OPENING_MS

HOUR_MS = 3_600_000


def test_a_day_begins_at_its_hour_in_its_zone() -> None:
    day = GamingDay("06:00", "America/Los_Angeles")
    first_ms, end_ms = day.bounds_ms(date(2026, 3, 8))  # the clocks go forward in this one
    assert end_ms - first_ms == 24 * HOUR_MS
    assert day.bounds_ms(date(2026, 3, 7))[1] - day.bounds_ms(date(2026, 3, 7))[0] == 23 * HOUR_MS
    assert day.of(first_ms) == date(2026, 3, 8)
    assert day.of(first_ms - 1) == date(2026, 3, 7)
    assert day.of(end_ms - 1) == date(2026, 3, 8)
    with pytest.raises(LedgerError, match="cannot start"):
        GamingDay("6 o'clock")
    with pytest.raises(LedgerError, match="cannot start"):
        GamingDay("06:00", "Nowhere/Atall")


def test_accrual_per_table_ties_to_the_meter_from_day_to_day(books: Books) -> None:
    day = GamingDay("06:00")
    books.open(document())
    books.open(document("t2"), "t2")
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.clock.ms = day.bounds_ms(day.of(OPENING_MS))[1]
    books.start("touch-1", 2, "1A")
    books.start("t2", 1, "3A", "4A")
    today = day.of(books.clock.ms)
    report = day_report(books.manager.book, today, day)
    assert [(row.table_id, row.wager_count) for row in report.accruals] == [
        ("t2", 2),
        ("touch-1", 1),
    ]
    (meter,) = report.meters
    accrued = sum(row.contribution_microcents for row in report.accruals)
    assert meter.by_kind == {"WAGER": accrued}
    assert meter.closing_microcents - meter.opening_microcents == accrued == 75 * CENT
    assert meter.ties
    (yesterday,) = day_report(books.manager.book, day.of(OPENING_MS), day).meters
    assert yesterday.ties
    assert yesterday.closing_microcents == meter.opening_microcents
    assert set(yesterday.by_kind) == {"OPENING", "WAGER", "AWARD", "RESEED"}


def test_house_jackpots_do_not_accrue(books: Books) -> None:
    books.open(document(jackpots={"main": HOUSE}))
    books.start("touch-1", 1, "1A")
    day = GamingDay()
    report = day_report(books.manager.book, day.of(books.clock.ms), day)
    assert (report.accruals, report.meters) == ((), ())


def test_the_bank_must_hold_the_players_money_and_not_the_house_s(books: Books) -> None:
    books.open(document(jackpots={"main": TERMS | {"contribution_ppm": 250_001}}))
    books.start("touch-1", 1, "1A", "2A", "5A")
    (cover,) = bank_covers(books.manager.book)
    assert cover.player_microcents == 75_000_300
    assert cover.required_cents == 76 + 15  # rounded up, and the reserve
    assert cover.house_microcents == 100_000 * CENT
    assert cover.largest_fixed_cents == 30_000


def test_a_win_set_aside_still_belongs_to_its_bank(books: Books) -> None:
    books.open(document(jackpots={"main": TERMS | {"freeze_claims": True}}))
    books.open(document("t2", jackpots={"main": TERMS | {"freeze_claims": True}}), "t2")
    books.start("touch-1", 1, "1A")
    books.start("t2", 1, "1A")
    books.quoted(_1A="four-aces")
    books.receive_award("t2", books.claim("t2", 1, 1, _1A="four-aces"))
    books.by_card("t2", 1, 1)  # the later claim is paid first: the earlier one is set aside
    (cover,) = bank_covers(books.manager.book)
    assert cover.owed_cents == 100_050
    assert cover.required_cents == 100_050


def test_counters_since_the_opening(books: Books) -> None:
    books.open(document(jackpots={"main": TERMS | {"limit": "1000.60"}}))
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    found = counts(books.manager.book, "main")
    assert (found.wager_count, found.award_count) == (3, 1)
    assert found.paid_microcents == 100_060 * CENT
    assert found.overflow_microcents == 15 * CENT


def test_the_view_tells_terms_policies_and_reversals(books: Books) -> None:
    books.open(document(jackpots={"main": TERMS | {"award_policy": "equal_share"}}))
    books.start("touch-1", 1, "1A", "5A")
    books.paid(_5A="four-aces")
    books.reverse()
    view = books.manager.view.view()
    (meter,), (win,) = view["meters"], view["wins"]
    assert (meter["type"], meter["award_policy"]) == ("progressive", "equal_share")
    assert (meter["limit_cents"], meter["stopped"], meter["pending"]) == (0, "", {})
    assert win["policies"] == [{"meter": "main", "policy": "equal_share"}]
    assert win["reversed_by"] > 0
    assert figures.award_cents(books.manager.book, "touch-1", 5) == 0


def test_a_day_ties_only_when_every_meter_does() -> None:
    """Catches: one meter that adds up standing for all of them."""
    sound = MeterDay("main", "Main", 100, 130, 5, 5, by_kind={"ADJUSTED": 30})
    off = MeterDay("minor", "Minor", 100, 130, 5, 5)
    reserve_off = MeterDay("minor", "Minor", 100, 100, 5, 6)
    unaccrued = MeterDay("minor", "Minor", 100, 130, 5, 5, by_kind={"WAGER": 30})
    day = date(2026, 11, 17)
    assert DayReport(day, (), (sound, sound)).ties
    for bad in (off, reserve_off, unaccrued):
        assert not DayReport(day, (), (sound, bad)).ties
        assert not DayReport(day, (), (bad, sound)).ties


def test_the_log_is_read_from_one_transaction_to_another(books: Books) -> None:
    books.open(document())
    books.start("touch-1", 1, "1A")
    last = books.store.tail().number
    for bounds in ((1, 3), (2, 2), (3, last), (3, 2)):
        numbers = [recorded.number for recorded, _ in books.store.recorded(*bounds)]
        assert numbers == list(range(bounds[0], bounds[1] + 1))
    assert books.store.first_since(0) == 1
    assert books.store.first_since(books.clock.ms + 1) == last + 1


@pytest.mark.parametrize("step", [1, 3, 7])
def test_a_day_is_the_same_in_steps_of_any_length(
    books: Books, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Catches: transactions counted twice, or left out, where two steps meet."""
    day = GamingDay("06:00")
    books.open(document())
    for number in (1, 2, 3):
        books.start("touch-1", number, "1A", "2A")
        books.paid(number, number, _2A="four-aces")
        books.end("touch-1", number)
    whole = day_report(books.manager.book, day.of(OPENING_MS), day)
    monkeypatch.setattr(day_reports, "STEP_TRANSACTIONS", step)
    monkeypatch.setattr(day_wins, "STEP_WINS", step)
    assert day_report(books.manager.book, day.of(OPENING_MS), day) == whole
    assert whole.ties


def test_an_opening_that_is_restated_as_it_is_moves_nothing(books: Books) -> None:
    books.open(document())
    before = books.store.tail()
    books.manager.restate_opening("main", 100_000)
    assert books.store.tail() == before
    books.manager.restate_opening("main", 100_001)
    assert books.shown_on("main") == 100_001
