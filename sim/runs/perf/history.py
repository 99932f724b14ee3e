"""What `make perf` came to over time: runs that were kept, and a small plot of each figure.

It alone knows the file of kept runs and how a plot is drawn. A run is kept only when somebody says
so, with a label and a note about the machine: figures of different machines share no line of
argument, only a picture.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from sim.runs.perf.figures import Figure

CELL_WIDTH, CELL_HEIGHT = 320, 96
PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT = 12, 40, 200, 40
COLUMNS = 3
NAME_CHARACTERS_MAX = 52


@dataclass(frozen=True)
class Kept:
    """One figure of one kept run."""

    run: str
    name: str
    value: float
    unit: str


class History:
    """The kept runs, oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        self.runs: list[dict[str, object]] = [run for run in content if run["figures"]]

    def keep(self, label: str, note: str, figures: Iterable[Figure]) -> None:
        """A run under the same label takes the place of the one before, figure by figure."""
        fresh = {
            name: {"value": round(each.value, 6), "unit": each.unit}
            for name, each in _full_names(figures)
        }
        for run in self.runs:
            if run["label"] == label:
                before = run["figures"]
                assert isinstance(before, dict)
                run["note"], run["figures"] = note, {**before, **fresh}
                break
        else:
            self.runs.append({"label": label, "note": note, "figures": fresh})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(
            json.dumps(self.runs, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )

    def lines(self) -> dict[str, list[Kept]]:
        """Each figure that was kept, with its values in the order of the runs."""
        found: dict[str, list[Kept]] = {}
        for run in self.runs:
            figures = run["figures"]
            assert isinstance(figures, dict)
            for name, each in figures.items():
                kept = Kept(str(run["label"]), name, float(each["value"]), str(each["unit"]))
                found.setdefault(name, []).append(kept)
        return found


def _full_names(figures: Iterable[Figure]) -> Iterator[tuple[str, Figure]]:
    """A figure that is printed indented means nothing without the name above it."""
    above = ""
    for each in figures:
        if each.name.startswith(" "):
            yield f"{above}: {each.name.strip()}", each
        else:
            above = each.name
            yield above, each


def draw(history: History, path: Path) -> None:
    """All figures in one picture, a cell for each."""
    lines = history.lines()
    rows = -(-len(lines) // COLUMNS)
    cells = [
        _cell(kept, place % COLUMNS * CELL_WIDTH, place // COLUMNS * CELL_HEIGHT)
        for place, kept in enumerate(lines.values())
    ]
    width, height = COLUMNS * CELL_WIDTH, rows * CELL_HEIGHT
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">'
    )
    paper = f'<rect width="{width}" height="{height}" fill="#fff"/>'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, paper, *cells, "</svg>"]) + "\n", encoding="utf-8")


def _cell(kept: Sequence[Kept], left: int, top: int) -> str:
    last = kept[-1]
    places = _places([each.value for each in kept], left + PLOT_LEFT, top + PLOT_TOP)
    dots = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="#0a5">'
        f"<title>{escape(each.run)}: {_short(each.value)} {escape(each.unit)}</title></circle>"
        for each, (x, y) in zip(kept, places, strict=True)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    name = last.name
    if len(name) > NAME_CHARACTERS_MAX:
        name = name[: NAME_CHARACTERS_MAX - 1] + "…"
    words_x = left + PLOT_LEFT + PLOT_WIDTH + 8
    return "\n".join(
        [
            f'<text x="{left + PLOT_LEFT}" y="{top + 24}">{escape(name)}'
            f"<title>{escape(last.name)}</title></text>",
            f'<polyline points="{points}" fill="none" stroke="#0a5" stroke-width="1.5"/>',
            *dots,
            f'<text x="{words_x}" y="{top + 58}" font-weight="bold">{_short(last.value)}</text>',
            f'<text x="{words_x}" y="{top + 72}" fill="#555">{escape(last.unit)}</text>',
        ]
    )


def _short(value: float) -> str:
    """Three figures say all that a run on another day would say again."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _places(values: Sequence[float], left: int, top: int) -> list[tuple[float, float]]:
    """From zero up, so that a small change looks small."""
    most = max(*values, 0.0) if len(values) > 1 else max(values[0], 0.0)
    step = PLOT_WIDTH / max(1, len(values) - 1)
    return [
        (left + number * step, top + PLOT_HEIGHT * (1 - (value / most if most else 0.0)))
        for number, value in enumerate(values)
    ]
