"""The views of the tables that ship, as their own units show them before the first bet."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from sim.floor.floor import TABLES_FOLDER, Floor
from sim.time.loop import run_virtual

TABLES = sorted(path.stem for path in TABLES_FOLDER.glob("*.toml"))
# For what a panel looks like: these differ from four-card-touch only below the felt or in amounts,
# and a panel is shown larger amounts than theirs.
LIKE_FOUR_CARD_TOUCH = ("four-card-five-dollar", "four-card-touch-fdc")
LOOKS = [name for name in TABLES if name not in LIKE_FOUR_CARD_TOUCH]
LARGEST_CENTS = 99_999_999_99


def look_of(view: dict[str, Any]) -> list[Any]:
    """What decides where things are on a panel, whatever the amounts are."""
    games = [(g["letter"], g["title"], [h["label"] for h in g["hands"]]) for g in view["games"]]
    seats = [[sensor["id"] for sensor in seat["sensors"]] for seat in view["seats"]]
    meters = [meter["label"] for meter in view["meters"]]
    return [view["workflow"], view["has_shuffler"], seats, games, meters]


@cache
def shipped_view(name: str) -> dict[str, Any]:
    """One object for everybody: copy it before changing it."""

    async def look() -> dict[str, Any]:
        floor = Floor(1)
        table = await floor.open_table(name)
        await asyncio.sleep(2)  # virtual: until the manager's settings and meters are there
        assert table.unit.controller is not None
        view = table.unit.controller.pages.view()
        await floor.close()
        return view

    # Playwright's own loop runs on the caller's thread.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: run_virtual(look())).result()
