"""`close-day` proves a gaming day that is over; `archive` moves closed days into sealed files.

Closing runs beside a serving manager: the proof is made here, and the manager adds one entry. An
audit with `--resume` then begins after the last closed day. Archiving takes rows out of the ledger,
so the manager is stopped for it; audits and explanations go on reading them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import date, timedelta

from kit.clock import wall_ms
from kit.command_line import whole
from manager.audit.archiving import archive_days
from manager.audit.closing import make_image, request_for
from manager.data_folder import add_data_option
from manager.ledger.engines.relations import CLOSED_DAYS
from manager.ledger.errors import LedgerError
from manager.ledger.reports.gaming_day import DAY_STARTS, ZONE, GamingDay
from manager.ledger_place import existing_ledger
from manager.ledger_reader import ledger_to_read
from manager.operator_requests import carry_out

KEPT_DAYS = 30  # a unit may come back after weeks and repeat what it sent last
KEPT_DAYS_MAX = 36_500  # a hundred years


def close_day(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager close-day", description=__doc__)
    add_day_options(parser)
    options = parser.parse_args(arguments)
    gaming_day = GamingDay(options.day_starts, options.zone)
    day = day_of(options.day, gaming_day)
    with ledger_to_read(options.data) as ledger:
        if any(row[0] >= day.isoformat() for row in ledger.find(CLOSED_DAYS, {})):
            raise LedgerError(f"Day {day} is closed already, or a later one is.")
        last = ledger.first_since(gaming_day.bounds_ms(day)[1]) - 1
        if last < 1:
            raise LedgerError(f"The ledger has nothing up to the end of day {day}.")
        image = make_image(options.data, ledger, day.isoformat(), last)
    print(carry_out(options.data, request_for(day.isoformat(), image)))
    return 0


def archive(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager archive", description=__doc__)
    add_day_options(parser)
    parser.add_argument(
        "--keep-days", type=whole(0, KEPT_DAYS_MAX), default=KEPT_DAYS, metavar="COUNT"
    )
    options = parser.parse_args(arguments)
    gaming_day = GamingDay(options.day_starts, options.zone)
    until = day_of(options.day, gaming_day)
    if options.day is None:
        until -= timedelta(days=options.keep_days)
    print(archive_days(options.data, existing_ledger(options.data), until.isoformat()))
    return 0


def add_day_options(parser: argparse.ArgumentParser) -> None:
    add_data_option(parser)
    parser.add_argument("--day", metavar="DATE", help="the day before this one unless told")
    parser.add_argument("--day-starts", default=DAY_STARTS, help="when a gaming day starts")
    parser.add_argument("--zone", default=ZONE, help="on which clock, such as America/Los_Angeles")


def day_of(text: str | None, gaming_day: GamingDay) -> date:
    """The day that is named, which must be over; by default the one before this one."""
    today = gaming_day.of(wall_ms())
    try:
        day = date.fromisoformat(text) if text else today - timedelta(days=1)
    except ValueError as error:
        raise LedgerError(f"{text!r} is no day; a day is named as 2026-11-17.") from error
    if day >= today:
        raise LedgerError(f"Day {day} is not over.")
    return day
