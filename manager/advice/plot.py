"""Draws simulated meter paths as one SVG picture, without any library.

Colours are attributes, not a style sheet, because a page that forbids inline styles shows it too.
"""

from __future__ import annotations

from html import escape

import numpy as np
import numpy.typing as npt

from manager.advice.paths import BLOCK_WAGERS, Paths
from manager.ledger.jackpots import Jackpot

WIDTH, HEIGHT = 900, 380
LEFT, RIGHT, TOP, BOTTOM = 90, 20, 40, 50
POINTS_MAX = 300
INK, GREY, GREEN, ORANGE = "#222", "#555", "#1d5641", "#b4630a"


def svg(jackpot: Jackpot, lives: Paths) -> str:
    blocks = lives.drawn_cents.shape[1]
    step = max(1, blocks // POINTS_MAX)
    levels = (jackpot.seed_cents, jackpot.limit_cents, 1)
    highest = max(float(lives.drawn_cents.max(initial=0)), *levels) * 1.05
    lines = "".join(
        f'<polyline points="{_points(path[::step], step, blocks, highest)}"/>'
        for path in lives.drawn_cents
    )
    title = (
        f"{escape(jackpot.label)}: {len(lives.drawn_cents)} of {lives.path_count} simulated "
        f"meters, random seed {lives.seed}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" aria-label="{title}" font-family="sans-serif" font-size="14" fill="{INK}">'
        f'<text x="{LEFT}" y="24">{title}</text>'
        f'<g fill="none" stroke="{GREEN}" stroke-opacity="0.45" stroke-width="1.2">{lines}</g>'
        f"{_level('seed', jackpot.seed_cents, highest)}"
        f"{_level('limit', jackpot.limit_cents, highest) if jackpot.limit_cents else ''}"
        f"{_axes(highest, blocks)}</svg>"
    )


def _level(name: str, cents: int, highest: float) -> str:
    y = _y(cents, highest)
    return (
        f'<line stroke="{ORANGE}" stroke-dasharray="6 4" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
        f'y1="{y:.1f}" y2="{y:.1f}"/><text x="{LEFT + 6}" y="{y - 6:.1f}">{name}</text>'
    )


def _axes(highest: float, blocks: int) -> str:
    bottom = HEIGHT - BOTTOM
    marks = "".join(
        f'<text x="{LEFT - 8}" y="{_y(highest * share, highest) + 5:.1f}" text-anchor="end">'
        f"${round(highest * share / 100):,}</text>"
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    return (
        f'<g stroke="{GREY}"><line x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{bottom}"/>'
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/></g>'
        f'{marks}<text x="{LEFT}" y="{bottom + 32}">0</text>'
        f'<text x="{WIDTH - RIGHT}" y="{bottom + 32}" text-anchor="end">'
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
