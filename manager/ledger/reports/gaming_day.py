"""Gaming days: which day a moment belongs to, and when that day begins and ends.

A day begins at an hour the house chooses, in its own time zone, and is named by the date on which
it began. A day in which the clocks change is as long as it is.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from manager.ledger.errors import LedgerError

DAY_STARTS = "06:00"
ZONE = "UTC"


class GamingDay:
    """A house's day: it starts at `starts` on the clock of `zone`."""

    def __init__(self, starts: str = DAY_STARTS, zone: str = ZONE) -> None:
        try:
            self._starts = time.fromisoformat(starts)
            # Not every machine has the table of time zones, and the usual one needs none.
            self._zone: tzinfo = UTC if zone == ZONE else ZoneInfo(zone)
        except (ValueError, OSError, ZoneInfoNotFoundError) as error:
            raise LedgerError(f"A gaming day cannot start at {starts!r} in {zone!r}.") from error
        self.words = f"{self._starts:%H:%M} {zone}"

    def of(self, time_ms: int) -> date:
        local = self.local(time_ms)
        before_start = local.time().replace(microsecond=0) < self._starts
        return local.date() - timedelta(days=1) if before_start else local.date()

    def local(self, time_ms: int) -> datetime:
        """A moment on the house's own clock."""
        return datetime.fromtimestamp(time_ms // 1000, self._zone)

    def bounds_ms(self, day: date) -> tuple[int, int]:
        return self._start_ms(day), self._start_ms(day + timedelta(days=1))

    def _start_ms(self, day: date) -> int:
        return int(datetime.combine(day, self._starts, self._zone).timestamp()) * 1000
