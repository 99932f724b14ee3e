"""A day as CSV: every line begins with its section, amounts are plain numbers with all places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kit.web.csv_lines import csv_line
from manager.web.day.sections import Amount, Cell, Section

PLACES = 8


def csv_of(view: dict[str, Any]) -> str:
    head = [
        csv_line(["gaming day", view["day"], f"starts at {view['starts']}"]),
        csv_line(["ties", "yes" if view["ties"] else "NO: run the audit"]),
    ]
    sections = [line for section in view["sections"] for line in _lines(section)]
    return "".join([*head, *sections, csv_line(["ledger", view["tail"]])])


def _lines(section: Section) -> Iterator[str]:
    name = f"{section.name} {section.meter_id}".strip()
    yield csv_line([name, *section.columns])
    for row in section.rows:
        yield csv_line([name, *map(_plain, row)])
    if section.total:
        yield csv_line([f"{name} total", *map(_plain, section.total)])


def _plain(cell: Cell) -> str | int:
    """-1234.5 dollars as -1234.50: two places at least, as many as it needs."""
    if not isinstance(cell, Amount):
        return cell
    whole, rest = divmod(abs(cell.microcents), 10**PLACES)
    places = f"{rest:0{PLACES}d}".rstrip("0").ljust(2, "0")
    return f"{'-' if cell.microcents < 0 else ''}{whole}.{places}"
