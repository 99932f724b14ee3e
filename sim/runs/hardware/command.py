"""Writes docs/hardware.md and its drawings."""

from __future__ import annotations

import argparse
from pathlib import Path

from sim.floor.floor import TABLES_FOLDER
from sim.runs.hardware.drawings import electrode, schematic
from sim.runs.hardware.layout import from_below, pad_steps
from sim.runs.hardware.page import boards, page

# By the arithmetic of the page, the board whose leads may be as long as a layout needs.
BUILT = "four-card-touch-fdc"


def files(tables: Path = TABLES_FOLDER) -> dict[str, str]:
    """Every file of the page, by its place below docs."""
    drawn = {
        f"pictures/hardware-{name}.svg": schematic(name, board[1])
        for name, board in boards(tables).items()
    }
    return {
        "hardware.md": page(tables),
        "pictures/hardware-electrode.svg": electrode(),
        "pictures/hardware-from-below.svg": from_below(BUILT, boards(tables)[BUILT][1]),
        "pictures/hardware-pad-steps.svg": pad_steps(),
        **drawn,
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=Path("docs"))


def main(options: argparse.Namespace) -> int:
    for name, text in files().items():
        path = options.folder / name
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0
