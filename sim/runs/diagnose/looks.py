"""How a bad spot looks on the plot: what simulated spots read, once a second, in one evening each.

`looks.json` holds the levels as they stood in the bundles of such evenings. It alone draws them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from sim.runs.hardware.svg import Drawing

LOOKS: Final = Path(__file__).with_name("looks.json")
SECONDS: Final = 66
WORDS: Final = {
    "sound": ("in order", "chips of weight 1 come and go"),
    "worn-pad": ("drifted pad", "the empty felt climbs little by little, also below chips"),
    "wet-felt": ("wet felt", "up in one step, then slowly down as it dries; chips show on top"),
    "noisy-charger": ("something disturbs it", "never still, whatever lies there"),
    "loose-pad": ("loose pad", "far below empty felt, or no reading at all"),
}
LEFT, STEP, ROW = 80, 10, 96
# How high a chip is drawn. What is further away than the row is high is drawn at its edge.
CHIP_PIXELS, CHIP_PIXELS_WET, HIGH_PIXELS, LOW_PIXELS = 26, 9, 56, 14
FELT, LINE = "#8a8a8a", "#1457b8"


def levels_drawn() -> str:
    drawing = Drawing("What a spot reads, once a second, in order and with four faults")
    for number, (name, levels) in enumerate(looks().items()):
        top = 22 + ROW * number
        zero = top + 8 + HIGH_PIXELS
        chip = CHIP_PIXELS_WET if name == "wet-felt" else CHIP_PIXELS
        title, words = WORDS[name]
        drawing.text(10, top, title, "b")
        drawing.text(160, top, words)
        for height, label, dash in ((0, "empty felt", "2 3"), (chip, "one chip", "6 4")):
            drawing.path(
                [(LEFT, zero - height), (LEFT + STEP * SECONDS, zero - height)], FELT, dash
            )
            # Apart from each other, also where a chip is drawn small.
            drawing.text(LEFT - 66, zero - (max(height, 12) if height else 0) + 4, label, "s")
        for run in _runs(levels[:SECONDS]):
            points = [(LEFT + STEP * at, _height(zero, chip * level)) for at, level in run]
            drawing.path(points, LINE)
    words = f"{SECONDS} seconds each. Where there is no line there is no reading."
    drawing.text(LEFT, 30 + ROW * len(WORDS), words)
    return drawing.svg()


def looks() -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = json.loads(LOOKS.read_text("utf-8"))
    return found


def _runs(levels: list[float | None]) -> list[list[tuple[int, float]]]:
    """Stretches without a gap."""
    runs: list[list[tuple[int, float]]] = [[]]
    for second, level in enumerate(levels):
        if level is None:
            runs.append([])
        else:
            runs[-1].append((second, level))
    return [run for run in runs if len(run) > 1]


def _height(zero: float, pixels: float) -> float:
    return round(zero - min(HIGH_PIXELS, max(-LOW_PIXELS, pixels)), 1)
