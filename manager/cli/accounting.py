"""`python -m manager accounting --out FILE`: the money of some gaming days, in debit and credit.

It reads beside a serving manager and changes nothing. The form follows the file's name: `.csv`, or
`.jsonl` for JSON lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from kit.command_line import CommandRefused
from manager.data_folder import add_data_option
from manager.export.accounting import FORMS, entries_between
from manager.ledger.reports.gaming_day import DAY_STARTS, ZONE, GamingDay
from manager.ledger_reader import ledger_to_read


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    form = FORMS.get(options.out.suffix.removeprefix("."))
    if form is None:
        raise CommandRefused(f"{options.out.name} must end with .csv or .jsonl.")
    gaming_day = GamingDay(options.day_starts, options.zone)
    first_ms = gaming_day.bounds_ms(options.first)[0] if options.first else 0
    end_ms = gaming_day.bounds_ms(options.last)[1] if options.last else 1 << 62
    count = 0
    try:
        with (
            ledger_to_read(options.data) as ledger,
            ledger.snapshot(),
            options.out.open("x", encoding="utf-8", newline="") as file,
        ):
            for line in form(entries_between(ledger, first_ms, end_ms), gaming_day):
                count += 1
                file.write(line)
    except FileExistsError as error:
        sentence = f"{options.out} exists already; an export never overwrites one."
        raise CommandRefused(sentence) from error
    except OSError as error:
        raise CommandRefused(f"{options.out} cannot be written: {error.strerror}.") from error
    print(f"{count} lines written to {options.out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager accounting", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    for name, place, words in (("--from", "first", "first"), ("--to", "last", "last")):
        help_text = f"the {words} gaming day, such as 2026-11-16; the ledger's own if left out"
        parser.add_argument(name, dest=place, type=_day, metavar="DAY", help=help_text)
    parser.add_argument("--day-starts", default=DAY_STARTS, help="when a gaming day starts")
    parser.add_argument("--zone", default=ZONE, help="on which clock, such as America/Los_Angeles")
    return parser


def _day(text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as 2026-11-16") from error
    if not 1971 <= found.year <= 9998:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as 2026-11-16")
    return found
