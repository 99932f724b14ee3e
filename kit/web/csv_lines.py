"""A CSV file for people who open it in a spreadsheet: quoted as needed, and never a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

# What a spreadsheet would take for a formula when a text begins with it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Cell = str | int


def csv_line(cells: Sequence[Cell]) -> str:
    """One line with its end. A text that looks like a formula gets an apostrophe before it."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\r\n").writerow([_safe(cell) for cell in cells])
    return file.getvalue()


def dollars(cents: int) -> str:
    """An amount as a plain number, which every spreadsheet reads: -1234.05."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}.{rest:02d}"


def _safe(cell: Cell) -> Cell:
    is_formula = isinstance(cell, str) and cell.startswith(_FORMULA)
    return f"'{cell}" if is_formula and not _is_number(cell) else cell


def _is_number(cell: Cell) -> bool:
    text = str(cell).removeprefix("-")
    return text.replace(".", "", 1).isdigit() and text.isascii()
