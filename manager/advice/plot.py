"""Draws simulated meter paths as one SVG picture, without any library."""

from __future__ import annotations

from html import escape

import numpy as np
import numpy.typing as npt

from manager.advice.paths import BLOCK_WAGERS, Paths
from manager.ledger.jackpots import Jackpot

WIDTH, HEIGHT = 900, 380
LEFT, RIGHT, TOP, BOTTOM = 90, 20, 40, 50
POINTS_MAX = 300


def svg(jackpot: Jackpot, lives: Paths) -> str:
    blocks = lives.drawn_cents.shape[1]
    step = max(1, blocks // POINTS_MAX)
    highest = max(float(lives.drawn_cents.max(initial=0)), jackpot.seed_cents, 1) * 1.05
    lines = "".join(
        f'<polyline class="path" points="{_points(path[::step], step, blocks, highest)}"/>'
        for path in lives.drawn_cents
    )
    seed_y = _y(jackpot.seed_cents, highest)
    title = (
        f"{escape(jackpot.label)}: {len(lives.drawn_cents)} of {lives.path_count} simulated "
        f"meters, seed {lives.seed}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" aria-label="{title}">'
        "<style>.path{fill:none;stroke:#1d5641;stroke-opacity:.45;stroke-width:1.2}"
        ".axis{stroke:#555;stroke-width:1}.seed{stroke:#b4630a;stroke-dasharray:6 4}"
        "text{font:14px sans-serif;fill:#222}</style>"
        f'<text x="{LEFT}" y="24">{title}</text>{lines}'
        f'<line class="seed" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{seed_y:.1f}" y2="{seed_y:.1f}"/>'
        f'<text x="{LEFT + 6}" y="{seed_y - 6:.1f}">seed</text>'
        f"{_axes(highest, blocks)}</svg>"
    )


def _axes(highest: float, blocks: int) -> str:
    bottom = HEIGHT - BOTTOM
    marks = "".join(
        f'<text x="{LEFT - 8}" y="{_y(highest * share, highest) + 5:.1f}" text-anchor="end">'
        f"${round(highest * share / 100):,}</text>"
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    return (
        f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{bottom}"/>'
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>'
        f'{marks}<text x="{WIDTH - RIGHT}" y="{bottom + 32}" text-anchor="end">'
        f"{blocks * BLOCK_WAGERS:,} wagers</text>"
    )


def _points(values: npt.NDArray[np.float64], step: int, blocks: int, highest: float) -> str:
    span = (WIDTH - LEFT - RIGHT) / max(1, blocks - 1)
    return " ".join(
        f"{LEFT + index * step * span:.1f},{_y(float(value), highest):.1f}"
        for index, value in enumerate(values)
    )


def _y(cents: float, highest: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * cents / highest
