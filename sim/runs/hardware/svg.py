"""A drawing from text: boxes, lines and words as SVG, in few lines of our own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = (
    "text{font:12px sans-serif;fill:#111}.s{font-size:10px;fill:#444}"
    "rect{fill:#fff;stroke:#111}line,path{stroke:#111;fill:none}"
    "circle{fill:none;stroke:#111}.b{font-weight:bold}"
)


class Drawing:
    def __init__(self, title: str) -> None:
        self._title = title
        self._parts: list[str] = []
        self._right = self._bottom = 0.0

    def box(self, x: float, y: float, width: float, height: float, fill: str = "#fff") -> None:
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" style="fill:{fill}"/>'
        )
        self._reach(x + width, y + height)

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = "#111") -> None:
        self._parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" style="stroke:{colour}"/>'
        )
        self._reach(max(x1, x2), max(y1, y2))

    def circle(self, x: float, y: float, radius: float, fill: str = "#fff") -> None:
        self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" style="fill:{fill}"/>')
        self._reach(x + radius, y + radius)

    def path(self, points: Sequence[tuple[float, float]], colour: str, dash: str = "") -> None:
        """A wire along these points."""
        line = " ".join(f"{x:g},{y:g}" for x, y in points)
        style = f"stroke:{colour}" + (f";stroke-dasharray:{dash}" if dash else "")
        self._parts.append(f'<polyline points="{line}" style="fill:none;{style}"/>')
        for x, y in points:
            self._reach(x, y)

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        css = f' class="{kind}"' if kind else ""
        self._parts.append(f'<text x="{x:g}" y="{y:g}"{css}>{escape(words)}</text>')
        self._reach(x + 7 * len(words), y + 4)

    def _reach(self, x: float, y: float) -> None:
        self._right, self._bottom = max(self._right, x), max(self._bottom, y)

    def svg(self) -> str:
        width, height = self._right + 10, self._bottom + 10
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
                f'role="img" aria-label="{escape(self._title, quote=True)}">',
                f"<title>{escape(self._title)}</title>",
                f"<style>{STYLE}</style>",
                f'<rect width="{width:g}" height="{height:g}" style="stroke:none"/>',
                *self._parts,
                "</svg>",
                "",
            ]
        )
