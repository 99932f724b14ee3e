"""A seed and rates to start from, for each paytable that ships.

`starting_points.toml` has what the rule of `starting_rule` gives for them. So no form waits for
odds, and a manager that only serves pages loads nothing that counts cards.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from manager.games import Paytable

FILE = "starting_points.toml"


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """For a wager of $1; a seed grows with the wager, rates do not."""

    seed_cents: int
    contribution_ppm: int
    reserve_ppm: int


def starting_point(paytable: Paytable, level: str) -> StartingPoint | None:
    """None for a paytable of the house's own: what is not known is asked for."""
    found = _known().get(paytable.id, {}).get(level)
    return StartingPoint(**found) if found else None


@cache
def _known() -> dict[str, dict[str, dict[str, int]]]:
    text = resources.files("manager.advice").joinpath(FILE).read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, int]]] = tomllib.loads(text)
    return found
