"""Draws what a meter showed as one SVG picture: steps, hours along the bottom, each win marked.

Colours are classes of the page's own style sheet, so that the picture follows a dark theme and
needs no inline style, which the pages forbid.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from html import escape

from kit.words.numbers import money
from manager.web.floor.history import History, Moment

WIDTH, HEIGHT = 900, 300
LEFT, RIGHT, TOP, BOTTOM = 110, 16, 20, 40
MARKS = 4
STEPS = (1, 2, 5)  # times a power of ten: what people count amounts in

Local = Callable[[int], datetime]


def svg(label: str, told: History, local: Local) -> str:
    """`local` is the house's own time of a moment."""
    low, high = _bounds([each.cents for each in (*told.moments, *told.wins)])
    scale = _Scale(told, low, high)
    title = escape(f"What {label} showed, from {_when(local, told.first_ms)} on")
    marks = "".join(
        f'<circle class="mark" cx="{scale.x(win):.1f}" cy="{scale.y(win.cents):.1f}" r="5">'
        f"<title>Win from {money(win.cents)}, {_when(local, win.time_ms)}</title></circle>"
        for win in told.wins
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" class="history" '
        f'role="img" aria-label="{title}">{_grid(scale, low, high)}{_hours(scale, told, local)}'
        f'<polyline class="path" points="{_steps(scale, told.moments)}"/>{marks}</svg>'
    )


class _Scale:
    def __init__(self, told: History, low: int, high: int) -> None:
        self._first_ms = told.first_ms
        self._per_ms = (WIDTH - LEFT - RIGHT) / max(1, told.end_ms - told.first_ms)
        self._low = low
        self._per_cent = (HEIGHT - TOP - BOTTOM) / max(1, high - low)

    def x(self, moment: Moment) -> float:
        return self.at(moment.time_ms)

    def at(self, time_ms: int) -> float:
        return LEFT + (time_ms - self._first_ms) * self._per_ms

    def y(self, cents: int) -> float:
        return HEIGHT - BOTTOM - (cents - self._low) * self._per_cent


def _steps(scale: _Scale, moments: tuple[Moment, ...]) -> str:
    """A meter keeps its value until it changes: a flat line, then a step."""
    points: list[str] = []
    for place, moment in enumerate(moments):
        if place:
            points.append(f"{scale.x(moment):.1f},{scale.y(moments[place - 1].cents):.1f}")
        points.append(f"{scale.x(moment):.1f},{scale.y(moment.cents):.1f}")
    return " ".join(points)


def _bounds(values: list[int]) -> tuple[int, int]:
    """Round amounts around what was shown; never a line on the edge."""
    step = _step(max(values) - min(values))
    return min(values) // step * step, (max(values) // step + 1) * step


def _step(span_cents: int) -> int:
    """A round amount that divides the span into about `MARKS`, a dollar at least."""
    power = 100
    while True:
        for each in STEPS:
            if each * power * MARKS >= span_cents:
                return each * power
        power *= 10


def _grid(scale: _Scale, low: int, high: int) -> str:
    step = _step(high - low)
    lines = []
    for cents in range(low, high + 1, step):
        y = scale.y(cents)
        lines.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{LEFT - 8}" y="{y + 5:.1f}" text-anchor="end">{money(cents)[:-3]}</text>'
        )
    return "".join(lines)


def _hours(scale: _Scale, told: History, local: Local) -> str:
    span_ms = told.end_ms - told.first_ms
    texts = []
    for place in range(MARKS + 1):
        time_ms = told.first_ms + span_ms * place // MARKS
        anchor = {0: "start", MARKS: "end"}.get(place, "middle")
        texts.append(
            f'<text x="{scale.at(time_ms):.1f}" y="{HEIGHT - 12}" text-anchor="{anchor}">'
            f"{_when(local, time_ms)}</text>"
        )
    return "".join(texts)


def _when(local: Local, time_ms: int) -> str:
    return f"{local(time_ms):%d %b %H:%M}"
