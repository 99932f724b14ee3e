"""A gaming day begins at the house's hour, in the house's own time."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfoNotFoundError

import pytest

from manager.ledger.errors import LedgerError
from manager.ledger.reports import gaming_day
from manager.ledger.reports.gaming_day import GamingDay

DAY = date(2026, 11, 16)


def ms(hour: int, minute: int, second: int = 0, day: int = 16) -> int:
    return int(datetime(2026, 11, day, hour, minute, second, tzinfo=UTC).timestamp()) * 1000


def test_a_day_has_its_first_moment_and_not_its_last() -> None:
    """Catches: a win at the border that is in two days, or in none."""
    house = GamingDay("06:30")
    first_ms, end_ms = house.bounds_ms(DAY)
    assert (first_ms, end_ms) == (ms(6, 30), ms(6, 30, day=17))
    for moment_ms in (first_ms, first_ms + 999, end_ms - 1):
        assert house.of(moment_ms) == DAY
    assert house.of(first_ms - 1) == date(2026, 11, 15)
    assert house.of(end_ms) == date(2026, 11, 17)


def test_a_house_has_its_own_clock_and_says_so() -> None:
    house = GamingDay("06:00", "America/Los_Angeles")
    assert house.words == "06:00 America/Los_Angeles"
    assert house.bounds_ms(DAY)[0] == ms(14, 0)
    assert house.local(ms(14, 5)).hour == 6
    assert GamingDay().words == "06:00 UTC"


@pytest.mark.parametrize("day", [date(2026, 3, 8), date(2026, 11, 1)])
def test_a_day_in_which_the_clocks_change_is_as_long_as_it_is(day: date) -> None:
    first_ms, end_ms = GamingDay("00:00", "America/Los_Angeles").bounds_ms(day)
    assert (end_ms - first_ms) // 3_600_000 == (23 if day.month == 3 else 25)


@pytest.mark.parametrize(("starts", "zone"), [("25:00", "UTC"), ("six", "UTC"), ("06:00", "Mars")])
def test_a_day_that_cannot_begin_is_refused(starts: str, zone: str) -> None:
    with pytest.raises(LedgerError, match="A gaming day cannot start at"):
        GamingDay(starts, zone)


def test_the_usual_zone_needs_no_table_of_time_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: a manager that does not start on a machine without that table."""

    def missing(zone: str) -> None:
        raise ZoneInfoNotFoundError(zone)

    monkeypatch.setattr(gaming_day, "ZoneInfo", missing)
    assert GamingDay().of(ms(6, 0)) == DAY
    with pytest.raises(LedgerError):
        GamingDay("06:00", "America/Los_Angeles")
