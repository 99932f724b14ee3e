"""What the manager's papers cost: a win's slips and a gaming day, as PDF.

In CPU time of this process: what a clerk waits for on a quiet machine, whoever else uses this one.
The win is the largest that a table of seven seats can have: every seat wins at once.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from manager.app import Manager
from manager.data_folder import LEDGER_NAME
from manager.web.day.pdf import pdf_of as day_pdf
from manager.web.wins.pdf import pdf_of as win_pdf
from sim.floor.floor import OPENING_WALL_MS
from sim.runs.perf.figures import Figure, at_most
from sim.runs.scenario.command import play_text

SEATS = range(1, 8)
HAND = "straight-flush"
ADDRESS = "https://manager.example:8080/wins/1/explain"
TIMES = 20
COUNTED_WITHIN_S = 60.0
MS_PER_S = 1000


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        play_text(_scenario(), keep=folder)
        manager = Manager(str(folder / LEDGER_NAME), lambda: OPENING_WALL_MS)
        try:
            return _papers(manager)
        finally:
            manager.store.close()


def _scenario() -> str:
    bets = [f"place {seat}" for seat in SEATS]
    hands = [f"press SEAT {seat}\npress HAND {HAND}" for seat in SEATS]
    lines = ["table four-card-touch", *bets, "press START", *hands, "press CONFIRM"]
    return "\n".join([*lines, "expect state confirm", "swipe EXECUTIVE", "expect state locked"])


def _papers(manager: Manager) -> list[Figure]:
    day = asyncio.run(_day(manager))
    first_ms = _cpu_ms(lambda: _slips(manager))
    again_ms = _median_ms(lambda: _slips(manager))
    day_ms = _median_ms(lambda: day_pdf(day, "Perf"))
    return [
        at_most("a win of seven winners as PDF, the first", first_ms, 1000, "CPU-ms", "8 sheets"),
        at_most("the same again, median", again_ms, 1000, "CPU-ms"),
        at_most("its gaming day as PDF, median", day_ms, 1000, "CPU-ms", "once it is counted"),
    ]


def _slips(manager: Manager) -> bytes:
    """Read from the ledger and drawn, as for each clerk who asks."""
    win = manager.view.win(1)
    assert win is not None
    assert len(win["lines"]) == len(SEATS)
    return win_pdf(win, ADDRESS)


async def _day(manager: Manager) -> dict[str, Any]:
    found = await manager.view.reports.days.day(_date(), COUNTED_WITHIN_S)
    assert isinstance(found, dict), "one round is counted at once"
    return found


def _date() -> date:
    return datetime.fromtimestamp(OPENING_WALL_MS / MS_PER_S, UTC).date()


def _median_ms(make: Callable[[], bytes]) -> float:
    return statistics.median(_cpu_ms(make) for _ in range(TIMES))


def _cpu_ms(make: Callable[[], bytes]) -> float:
    begun_s = time.process_time()
    make()
    return (time.process_time() - begun_s) * 1000
