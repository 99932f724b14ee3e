"""What a measured figure is, how it is printed, and how it is kept as JSON.

A figure says what was measured, in which unit, and the bound or the yardstick of the same run. It
is a measurement, never a test: a slow machine gives other figures, not a failure.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

LINE_WIDTH = 100
BESIDE_INDENT = 10
LARGE = 1000


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    unit: str
    beside: str = ""  # the bound, or the yardstick measured in the same run
    holds: bool | None = None  # whether the stated bound is kept; None when there is none


def at_most(name: str, value: float, bound: float, unit: str, note: str = "") -> Figure:
    beside = f"at most {bound:g} {unit}" + (f"; {note}" if note else "")
    return Figure(name, value, unit, beside, value <= bound)


def at_least(name: str, value: float, bound: float, unit: str, note: str = "") -> Figure:
    beside = f"at least {bound:g} {unit}" + (f"; {note}" if note else "")
    return Figure(name, value, unit, beside, value >= bound)


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def distribution(values: list[float], unit: str) -> str:
    """Five places of the distribution, for a person to see its shape."""
    places = [f"{percentile(values, share):.2f}" for share in (0.01, 0.25, 0.5, 0.75, 0.99)]
    return f"1/25/50/75/99 % of {len(values)}: {' / '.join(places)} {unit}"


def print_figures(title: str, figures: Iterable[Figure]) -> None:
    """One line for what was measured; under it, what to hold it against."""
    print(title)
    marks = {True: "ok", False: "OUT", None: ""}
    for figure in figures:
        value = f"{figure.value:,.3f}" if abs(figure.value) < LARGE else f"{figure.value:,.0f}"
        print(f"  {marks[figure.holds]:<4}{figure.name:<58}{value:>12} {figure.unit}")
        if figure.beside:
            indent = " " * BESIDE_INDENT
            print(
                textwrap.fill(
                    figure.beside, LINE_WIDTH, initial_indent=indent, subsequent_indent=indent
                )
            )
    print(flush=True)


def save(path: Path, groups: dict[str, list[Figure]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {title: [asdict(figure) for figure in group] for title, group in groups.items()}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
