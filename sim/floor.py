"""A casino floor in virtual time: one Game Manager and the tables connected to it.

It puts the shipped manager, the shipped controllers and the simulated hardware together, and gives
the people on the floor (scenarios, storms) one place to act and look. Everything lives in memory.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from controller.config import UnitConfig

TABLES_FOLDER = Path(__file__).resolve().parent.parent / "deploy" / "tables"
# Any fixed date will do: the floor opens on it and virtual time runs from there.
OPENING_WALL_MS = 1_767_268_800_000
KEY_HOLD_MS = 80


def table_path(name: str) -> Path:
    path = TABLES_FOLDER / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in TABLES_FOLDER.glob("*.toml")))
        raise FileNotFoundError(f"there is no table called {name}; there are {known}")
    return path


def simulated(config: UnitConfig) -> UnitConfig:
    """The shipped table on the simulated board: asked for by name, never a fallback."""
    return dataclasses.replace(config, board=dataclasses.replace(config.board, backend="simulated"))
